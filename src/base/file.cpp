// read_file and write_file of base/text.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/errors.h"
#include "base/text.h"

namespace weft {

namespace {

std::string reason(int error) {
  return std::generic_category().message(error);  // strerror's text, safe among threads
}

[[noreturn]] void fail(const std::string& path, std::string_view verb, int error) {
  throw InputError({path, 0, 0}, fmt::format("cannot {} '{}': {}", verb, path, reason(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  // Closes now and tells whether that went well: some file systems report a full disk only here.
  int close_now() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

// 0, or the errno of what went wrong.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

// A link is written through: the file it points at is replaced, not the link.
std::string resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

struct Temporary {
  int fd;
  std::string path;
};

// A new file beside `target`, on the same file system so that rename is atomic.
Temporary open_temporary(const std::string& target) {
  constexpr int kTries = 100;
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}.{}.{}.tmp", target, ::getpid(), i);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST || i == kTries) return {fd, std::move(path)};
  }
}

void write_directly(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "write", errno);
  if (const int error = write_all(file.get(), text)) fail(path, "write", error);
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "read", errno);
  std::string text;
  struct stat info{};
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    text.reserve(std::min(static_cast<std::size_t>(info.st_size), limit) + 1);
  }
  std::size_t used = 0;
  while (true) {
    constexpr std::size_t kChunk = 1 << 16;
    text.resize(std::max(text.capacity(), used + kChunk));
    const ssize_t n = ::read(file.get(), text.data() + used, text.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "read", errno);
    used += static_cast<std::size_t>(n);
    if (used > limit) {
      throw InputError({path, 0, 0}, fmt::format("'{}' is larger than {} bytes", path, limit));
    }
    if (n == 0) break;
  }
  text.resize(used);
  return text;
}

void write_file(const std::string& path, std::string_view text) {
  const std::string target = resolve(path);
  struct stat info{};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  // A terminal, a pipe or /dev/null cannot be replaced by renaming.
  if (exists && !S_ISREG(info.st_mode)) return write_directly(path, text);
  const Temporary temporary = open_temporary(target);
  if (temporary.fd < 0) fail(path, "write", errno);
  Descriptor file(temporary.fd);
  if (exists) (void)!::fchmod(file.get(), info.st_mode & 07777);
  int error = write_all(file.get(), text);
  if (file.close_now() != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.path.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.path.c_str());
  fail(path, "write", error);
}

}  // namespace weft
