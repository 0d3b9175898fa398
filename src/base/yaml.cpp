#include "base/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace weft {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
constexpr int kMaxDepth = 64;
constexpr int kMaxAliases = 1000;
// Nodes copied for anchors and aliases in all: aliases of aliases grow as a power of their number.
constexpr std::size_t kMaxCopiedNodes = 1'000'000;

struct Event {
  yaml_event_t raw{};
  Event() = default;
  ~Event() { yaml_event_delete(&raw); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

std::string_view view(const yaml_char_t* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view{};
}

std::size_t count_nodes(const YamlNode& node) {
  std::size_t n = 1;
  for (const YamlNode& item : node.items) n += count_nodes(item);
  for (const auto& [key, value] : node.entries) n += 1 + count_nodes(value);
  return n;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
    CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  YamlNode read() {
    expect(YAML_STREAM_START_EVENT);
    Event first;
    next(first);
    if (first.raw.type == YAML_STREAM_END_EVENT)
      fail({file_, 1, 1}, "the file is empty", "write at least 'key: value'");
    CHECK(first.raw.type == YAML_DOCUMENT_START_EVENT);
    Event content;
    next(content);
    YamlNode root = node(content, 1);
    expect(YAML_DOCUMENT_END_EVENT);
    Event last;
    next(last);
    if (last.raw.type != YAML_STREAM_END_EVENT) {
      fail(at(last), "a second document in the file", "keep one document a file");
    }
    diagnostics_.throw_if_any(text_);
    return root;
  }

 private:
  [[noreturn]] void fail(SourcePosition where, std::string what, std::string hint = {}) {
    diagnostics_.add(std::move(where), std::move(what), std::move(hint));
    diagnostics_.throw_all(text_);
  }

  [[nodiscard]] SourcePosition at(const yaml_mark_t& mark) const {
    return {file_, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
  }
  [[nodiscard]] SourcePosition at(const Event& event) const { return at(event.raw.start_mark); }

  void next(Event& event) {
    if (yaml_parser_parse(&parser_, &event.raw) == 1) return;
    const std::string problem = parser_.problem ? parser_.problem : "not valid YAML";
    if (parser_.error == YAML_READER_ERROR) {
      fail(position_at(text_, parser_.problem_offset, file_), problem,
           "the file must be UTF-8 text without control characters");
    }
    if (parser_.error == YAML_MEMORY_ERROR) fail({file_, 0, 0}, "not enough memory to read it");
    std::string hint;
    if (parser_.context) {
      hint = fmt::format("{} that starts at line {}, column {}", parser_.context,
                         parser_.context_mark.line + 1, parser_.context_mark.column + 1);
    }
    fail(at(parser_.problem_mark), problem, hint);
  }

  void expect(yaml_event_type_t type) {
    Event event;
    next(event);
    CHECK(event.raw.type == type);
  }

  void refuse_tag(const Event& event, const yaml_char_t* tag) {
    if (tag == nullptr) return;
    diagnostics_.add(at(event), fmt::format("tag '{}' is not accepted", view(tag)),
                     "write the value without a tag");
  }

  YamlNode node(const Event& event, int depth) {
    if (depth > kMaxDepth) fail(at(event), fmt::format("nested deeper than {}", kMaxDepth));
    switch (event.raw.type) {
      case YAML_ALIAS_EVENT:
        return alias(event, depth);
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return sequence(event, depth);
      case YAML_MAPPING_START_EVENT:
        return mapping(event, depth);
      default:
        CHECK(!"libyaml promised a node");
        return {};
    }
  }

  YamlNode scalar(const Event& event) {
    const auto& raw = event.raw.data.scalar;
    YamlNode out;
    out.where = at(event);
    refuse_tag(event, raw.tag);
    out.text.assign(reinterpret_cast<const char*>(raw.value), raw.length);
    out.quoted = raw.style != YAML_PLAIN_SCALAR_STYLE;
    const bool empty = out.text.empty() || out.text == "~" || out.text == "null";
    out.kind = empty && !out.quoted ? YamlNode::Kind::null : YamlNode::Kind::scalar;
    remember(event, raw.anchor, out);
    return out;
  }

  YamlNode sequence(const Event& start, int depth) {
    YamlNode out;
    out.kind = YamlNode::Kind::sequence;
    out.where = at(start);
    refuse_tag(start, start.raw.data.sequence_start.tag);
    while (true) {
      Event event;
      next(event);
      if (event.raw.type == YAML_SEQUENCE_END_EVENT) break;
      out.items.push_back(node(event, depth + 1));
    }
    remember(start, start.raw.data.sequence_start.anchor, out);
    return out;
  }

  YamlNode mapping(const Event& start, int depth) {
    YamlNode out;
    out.kind = YamlNode::Kind::mapping;
    out.where = at(start);
    refuse_tag(start, start.raw.data.mapping_start.tag);
    std::map<std::string, SourcePosition, std::less<>> seen;
    while (true) {
      Event event;
      next(event);
      if (event.raw.type == YAML_MAPPING_END_EVENT) break;
      YamlNode key = node(event, depth + 1);
      Event value_event;
      next(value_event);
      YamlNode value = node(value_event, depth + 1);
      if (!accept_key(key)) continue;
      const auto [first, added] = seen.emplace(key.text, key.where);
      if (!added) {
        diagnostics_.add(key.where, fmt::format("key '{}' given twice", key.text),
                         fmt::format("it is already at line {}", first->second.line));
        continue;
      }
      out.entries.emplace_back(std::move(key), std::move(value));
    }
    remember(start, start.raw.data.mapping_start.anchor, out);
    return out;
  }

  bool accept_key(YamlNode& key) {
    if (key.kind == YamlNode::Kind::sequence || key.kind == YamlNode::Kind::mapping) {
      diagnostics_.add(key.where, "a key must be plain text",
                       "was a '{...}' template left in the file?");
      return false;
    }
    if (key.text.empty()) {
      diagnostics_.add(key.where, "an empty key");
      return false;
    }
    if (key.text == "<<" && !key.quoted) {
      diagnostics_.add(key.where, "merge keys ('<<') are not accepted", "write the keys out");
      return false;
    }
    key.kind = YamlNode::Kind::scalar;
    return true;
  }

  void remember(const Event& event, const yaml_char_t* anchor, const YamlNode& node) {
    if (anchor == nullptr) return;
    charge(event, count_nodes(node));
    if (!anchors_.emplace(std::string(view(anchor)), node).second) {
      diagnostics_.add(at(event), fmt::format("anchor '&{}' defined twice", view(anchor)));
    }
  }

  YamlNode alias(const Event& event, int depth) {
    const std::string_view name = view(event.raw.data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      fail(at(event), fmt::format("unknown anchor '*{}'", name),
           "an anchor is defined with '&name' before it is used");
    }
    if (++aliases_ > kMaxAliases) {
      fail(at(event), fmt::format("more than {} aliases", kMaxAliases));
    }
    charge(event, count_nodes(found->second));
    if (depth + depth_of(found->second) > kMaxDepth + 1) {
      fail(at(event), fmt::format("nested deeper than {}", kMaxDepth));
    }
    YamlNode out = found->second;
    out.where = at(event);
    return out;
  }

  void charge(const Event& event, std::size_t nodes) {
    copied_ += nodes;
    if (copied_ > kMaxCopiedNodes) {
      fail(at(event), fmt::format("aliases expand to more than {} values", kMaxCopiedNodes));
    }
  }

  static int depth_of(const YamlNode& node) {
    int deepest = 0;
    for (const YamlNode& item : node.items) deepest = std::max(deepest, depth_of(item));
    for (const auto& [key, value] : node.entries) deepest = std::max(deepest, depth_of(value));
    return deepest + 1;
  }

  std::string_view text_;
  const std::string& file_;
  yaml_parser_t parser_{};
  Diagnostics diagnostics_;
  std::map<std::string, YamlNode, std::less<>> anchors_;
  int aliases_ = 0;
  std::size_t copied_ = 0;
};

}  // namespace

YamlNode::YamlNode() = default;
YamlNode::YamlNode(const YamlNode&) = default;
YamlNode::YamlNode(YamlNode&&) noexcept = default;
YamlNode& YamlNode::operator=(const YamlNode&) = default;
YamlNode& YamlNode::operator=(YamlNode&&) noexcept = default;
YamlNode::~YamlNode() = default;

const YamlNode* YamlNode::find(std::string_view key) const {
  CHECK(kind == Kind::mapping);
  for (const auto& [name, value] : entries) {
    if (name.text == key) return &value;
  }
  return nullptr;
}

YamlNode parse_yaml(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.size() > kMaxBytes) {
    throw InputError({file, 0, 0}, fmt::format("larger than {} MiB", kMaxBytes >> 20));
  }
  return Reader(text, file).read();
}

}  // namespace weft
