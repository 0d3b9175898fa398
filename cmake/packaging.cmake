# `cmake --install build/release --prefix DIR`, and `cpack --config build/release/CPackConfig.cmake`
# for a Debian package of the one program with its documentation.
if(NOT TARGET weft)
  return()
endif()
include(GNUInstallDirs)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_CONTACT "The Weft authors <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts how an AI cluster communicates")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
