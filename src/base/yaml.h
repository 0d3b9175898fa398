// YAML read through libyaml events into a tree in which every node knows its line and column.
// Stricter than YAML: duplicate keys and anchors, tags, merge keys, a second document, more than
// 1000 alias expansions (or a million nodes from them) and nesting over 64 are errors; scalars stay
// text (no "Norway problem"). `Fields` is how a reader takes a mapping apart: it reports missing,
// mistyped and unknown keys into one Diagnostics and goes on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/units.h"

namespace weft {

struct YamlNode {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  bool quoted = false;                                 // a scalar in quotes, or a | or > block
  std::string text;                                    // scalar
  std::vector<YamlNode> items;                         // sequence
  std::vector<std::pair<YamlNode, YamlNode>> entries;  // mapping, in order written
  SourcePosition where;

  // Defined in the .cpp: clang would else ask for the destructor of a vector of an incomplete pair.
  YamlNode();
  YamlNode(const YamlNode&);
  YamlNode(YamlNode&&) noexcept;
  YamlNode& operator=(const YamlNode&);
  YamlNode& operator=(YamlNode&&) noexcept;
  ~YamlNode();

  // Value of `key`, or nullptr. REQUIRES kind == mapping.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;
};

// The single document in `text`. Throws InputError (with `file` in its positions) on bad syntax.
YamlNode parse_yaml(std::string_view text, const std::string& file);

// A strict view of one mapping. Getters return a value (a harmless default when it was wrong) and
// put what is wrong into the Diagnostics; finish() reports keys that no getter asked for, with the
// nearest known key as hint.
class Fields {
 public:
  // `what` names the mapping in messages ("link", "server"). A node that is not a mapping is
  // reported.
  Fields(const YamlNode& node, std::string what, Diagnostics& diagnostics);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  [[nodiscard]] bool has(std::string_view key);
  [[nodiscard]] const SourcePosition& where() const { return node_->where; }
  // Where the value of `key` is (the mapping itself when absent): for the caller's own complaints.
  [[nodiscard]] SourcePosition where_of(std::string_view key) const;
  void complain(std::string_view key, std::string what, std::string hint = {});

  std::string required_string(std::string_view key);
  std::optional<std::string> optional_string(std::string_view key);
  std::int64_t required_int(std::string_view key, std::int64_t min, std::int64_t max);
  std::optional<std::int64_t> optional_int(std::string_view key, std::int64_t min,
                                           std::int64_t max);
  std::optional<double> optional_double(std::string_view key, double min, double max);
  std::optional<bool> optional_bool(std::string_view key);  // true | false only
  BitRate required_rate(std::string_view key);              // rates are more than zero
  std::optional<BitRate> optional_rate(std::string_view key);
  std::optional<Duration> optional_duration(std::string_view key);
  std::optional<Bytes> optional_bytes(std::string_view key);
  std::optional<double> optional_length_m(std::string_view key);
  // One of `allowed`, returned as its index; a wrong word is reported with a suggestion.
  std::optional<std::size_t> optional_choice(std::string_view key,
                                             const std::vector<std::string>& allowed);
  // The node itself, for nested structures; nullptr when absent.
  const YamlNode* optional_node(std::string_view key);
  const YamlNode* required_node(std::string_view key);
  // Items of a sequence (empty when absent; reported when not a sequence).
  const std::vector<YamlNode>& optional_list(std::string_view key);

  void finish();  // call last: reports unknown keys

 private:
  struct Quantity;

  const YamlNode* take(std::string_view key);
  const YamlNode* scalar(std::string_view key, std::string_view wanted);
  const YamlNode* plain(std::string_view key, std::string_view wanted);
  void missing(std::string_view key);
  template <class T, class Parse>
  std::optional<T> quantity(std::string_view key, const Quantity& kind, Parse parse);

  const YamlNode* node_;
  std::string what_;
  Diagnostics* diagnostics_;
  std::vector<std::string> asked_;
};

}  // namespace weft
