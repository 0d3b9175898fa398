#include "import/slurm_conf.h"

#include <cctype>
#include <utility>

#include "base/text.h"

namespace weft::import {

namespace {

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// A line with its continuations, and where each of its characters stands in the file.
struct Joined {
  std::string text;
  std::vector<std::size_t> at;
};

// The first `#` that no backslash precedes.
std::size_t comment_in(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] != '\\')) return i;
  }
  return line.size();
}

std::vector<Joined> join_lines(std::string_view text) {
  std::vector<Joined> lines;
  bool goes_on = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    line = line.substr(0, comment_in(line));
    while (!line.empty() && blank(line.back())) line.remove_suffix(1);
    const bool joins = !line.empty() && line.back() == '\\';
    if (joins) line.remove_suffix(1);
    if (!goes_on) lines.emplace_back();
    for (std::size_t i = 0; i < line.size(); ++i) lines.back().at.push_back(begin + i);
    lines.back().text += line;
    goes_on = joins;
    begin = end + 1;
  }
  return lines;
}

class FieldReader {
 public:
  FieldReader(const Joined& line, const LineIndex& index, const std::string& file,
              Diagnostics& diagnostics)
      : line_(line), index_(index), file_(file), diagnostics_(diagnostics) {}

  SlurmLine read() {
    SlurmLine fields;
    for (skip_blanks(); at_ < line_.text.size(); skip_blanks()) {
      SlurmField field;
      if (!read_key(field) || !read_value(field)) return {};  // the rest of the line means nothing
      fields.push_back(std::move(field));
    }
    return fields;
  }

 private:
  [[nodiscard]] bool ends() const { return at_ >= line_.text.size(); }
  void skip_blanks() {
    while (!ends() && blank(line_.text[at_])) ++at_;
  }
  // The end of the line where nothing follows.
  [[nodiscard]] std::size_t offset() const { return ends() ? line_.at.back() + 1 : line_.at[at_]; }
  bool complain(std::size_t offset, std::string what, std::string hint) {
    diagnostics_.add(index_.at(offset, file_), std::move(what), std::move(hint));
    return false;
  }

  bool read_key(SlurmField& field) {
    field.key_at = offset();
    const std::size_t begin = at_;
    while (!ends() && !blank(line_.text[at_]) && line_.text[at_] != '=') ++at_;
    field.written = line_.text.substr(begin, at_ - begin);
    field.key = to_lower(field.written);
    skip_blanks();
    if (field.key == "include")
      return complain(field.key_at, "'Include' is not followed", "paste the file in its place");
    if (ends() || line_.text[at_] != '=' || field.key.empty())
      return complain(field.key_at, "'" + field.written + "' is not followed by '='",
                      "write KEY=VALUE, as in Nodes=node[1-8]");
    ++at_;
    skip_blanks();
    return true;
  }

  bool read_value(SlurmField& field) {
    field.value_at = offset();
    const bool quoted = !ends() && line_.text[at_] == '"';
    if (quoted) ++at_;
    const std::size_t begin = at_;
    while (!ends() && (quoted ? line_.text[at_] != '"' : !blank(line_.text[at_]))) ++at_;
    field.value = line_.text.substr(begin, at_ - begin);
    if (quoted && ends()) return complain(field.value_at, "the quote is not closed", "add \"");
    if (quoted) ++at_;
    if (trim(field.value).empty())
      return complain(field.key_at, "'" + field.written + "' has no value",
                      "write KEY=VALUE, as in Nodes=node[1-8]");
    return true;
  }

  const Joined& line_;
  const LineIndex& index_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<SlurmLine> read_slurm_lines(std::string_view text, const LineIndex& index,
                                        const std::string& file, Diagnostics& diagnostics) {
  std::vector<SlurmLine> lines;
  for (const Joined& joined : join_lines(text)) {
    if (joined.text.empty()) continue;
    SlurmLine line = FieldReader(joined, index, file, diagnostics).read();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace weft::import
