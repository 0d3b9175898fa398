// What a user can cause. A reader collects every fault of a file in `Diagnostics` and throws them
// together; only app/ catches. Shape and codes: docs/errors.md. Exit code 2.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Where in which file; line and column count from 1, 0 = unknown. `file` may be "<argument>".
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  SourcePosition where;
  std::string what;         // one sentence, no full stop: "unknown key 'bandwith' in link"
  std::string hint;         // how to mend it: "did you mean 'bandwidth'?"
  std::string source_line;  // the text of that line when known, for the caret
};

// Lines and columns of a text, found once so that many faults cost little. Lines end at LF, CRLF or
// CR; columns count code points, as editors show them. Does not own the text.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  // The position of byte `offset`.
  [[nodiscard]] SourcePosition at(std::size_t offset, const std::string& file) const;
  // Line number `line` (from 1) without its line end; empty when there is none.
  [[nodiscard]] std::string_view line(int line) const;

 private:
  [[nodiscard]] std::size_t code_points_before(std::size_t offset) const;

  std::string_view text_;
  std::vector<std::size_t> starts_;       // of each line
  std::vector<std::size_t> checkpoints_;  // code points before every kStride-th byte
};

// The same for a single question.
SourcePosition position_at(std::string_view text, std::size_t offset, const std::string& file);
std::string_view line_of(std::string_view text, int line);

// Every fault found in one input, in order of position.
class InputError : public std::exception {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  InputError(SourcePosition where, std::string what, std::string hint = {});
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

// Collects faults while a reader goes on; throw_if_any() ends the reading.
class Diagnostics {
 public:
  void add(SourcePosition where, std::string what, std::string hint = {});
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  // Throws InputError with everything collected, source lines filled in from `text` if given.
  void throw_if_any(std::string_view text = {}) {
    if (!empty()) throw_all(text);
  }
  // The same for a fault after which reading cannot go on. REQUIRES !empty().
  [[noreturn]] void throw_all(std::string_view text = {});

 private:
  std::vector<Diagnostic> list_;
};

// Renders in the rustc shape: error: what / --> file:line:column / the line with a caret / = help.
std::string render(const InputError& error, std::size_t max_shown = 20);

}  // namespace weft
