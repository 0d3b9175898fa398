// An allocator that asks the kernel for 2 MiB pages where an array is that large: a simulation of
// thousands of hosts touches tens of megabytes at random, more than 4 KiB pages' translations fit
// the processor's table of them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace weft::engine::packet {

template <class T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  HugePageAllocator() = default;
  template <class U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) {}

  [[nodiscard]] T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    const auto align = static_cast<std::align_val_t>(bytes >= kPage ? kPage : alignof(T));
    void* const memory = ::operator new(bytes, align);
    // Advice only: without it the array works as well, slower.
    if (bytes >= kPage) (void)::madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    ::operator delete(memory, static_cast<std::align_val_t>(bytes >= kPage ? kPage : alignof(T)));
  }
  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
};

}  // namespace weft::engine::packet
