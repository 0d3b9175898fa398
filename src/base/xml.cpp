#include "base/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <pugixml.hpp>

#include "base/check.h"
#include "base/text.h"

namespace weft {

namespace {

constexpr int kMaxDepth = 256;

// Everything pugixml can tell apart is kept, so that this reader can refuse what pugixml lets pass:
// a second root, text beside it, declarations in a DOCTYPE, unknown entities.
constexpr unsigned kOptions =
    pugi::parse_fragment | pugi::parse_doctype | pugi::parse_cdata | pugi::parse_wconv_attribute;

bool is_xml_character(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) ||
         (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

bool is_entity_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '#';
}

// The character that "&name;" stands for, or nullopt.
std::optional<char32_t> entity(std::string_view name) {
  if (name == "lt") return U'<';
  if (name == "gt") return U'>';
  if (name == "amp") return U'&';
  if (name == "quot") return U'"';
  if (name == "apos") return U'\'';
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x');
  if (hexadecimal) name.remove_prefix(1);
  if (name.empty() || name.find_first_not_of("0123456789abcdefABCDEF") != name.npos) {
    return std::nullopt;
  }
  const auto value = hexadecimal ? parse_hex(name).value_or(0)
                                 : static_cast<std::uint64_t>(parse_int(name).value_or(0));
  const auto c = static_cast<char32_t>(value);
  return value <= 0x10ffff && is_xml_character(c) ? std::optional(c) : std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file), lines_(text) {}

  XmlElement read() {
    refuse_bad_characters();
    buffer_ = std::string(text_) + '\n';  // pugixml loses the last character of a fragment
    const pugi::xml_parse_result result = document_.load_buffer_inplace(
        buffer_.data(), buffer_.size(), kOptions, pugi::encoding_utf8);
    if (!result) {
      complain(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
               to_lower(result.description()));
      diagnostics_.throw_if_any(text_);
    }
    const pugi::xml_node root = find_root();
    diagnostics_.throw_if_any(text_);
    XmlElement tree = element(root, 1);
    diagnostics_.throw_if_any(text_);
    return tree;
  }

 private:
  void complain(std::size_t offset, std::string what, std::string hint = {}) {
    diagnostics_.add(lines_.at(offset, file_), std::move(what), std::move(hint));
  }

  [[nodiscard]] std::size_t offset_of(const char* in_buffer) const {
    return static_cast<std::size_t>(in_buffer - buffer_.data());
  }

  void refuse_bad_characters() {
    if (const auto bad = find_invalid_utf8(text_)) {
      complain(*bad, "the file is not UTF-8 text", "save it as UTF-8");
      diagnostics_.throw_if_any(text_);
    }
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') continue;
      complain(i, fmt::format("control character 0x{:02x} is not allowed in XML", c));
      diagnostics_.throw_if_any();
    }
  }

  pugi::xml_node find_root() {
    pugi::xml_node root;
    for (const pugi::xml_node node : document_.children()) {
      const auto offset =
          static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
      if (node.type() == pugi::node_element) {
        if (root) complain(offset, "a second root element", "an XML file has exactly one");
        if (!root) root = node;
      } else if (node.type() == pugi::node_doctype) {
        if (std::string_view(node.value()).find('[') != std::string_view::npos) {
          complain(offset, "declarations inside DOCTYPE are not accepted");
        }
      } else if (node.type() == pugi::node_cdata || !trim(node.value()).empty()) {
        complain(offset, "text outside the root element");
      }
    }
    if (!root) complain(0, "no element in the file", "an XML file has one root element");
    return root;
  }

  XmlElement element(const pugi::xml_node node, int depth) {
    XmlElement out;
    out.name = node.name();
    const auto offset = static_cast<std::size_t>(node.offset_debug());
    out.where = lines_.at(offset > 0 ? offset - 1 : 0, file_);  // pugixml points behind the '<'
    if (depth > kMaxDepth) {
      diagnostics_.add(out.where, fmt::format("elements nested deeper than {}", kMaxDepth));
      diagnostics_.throw_if_any(text_);
    }
    for (const pugi::xml_attribute a : node.attributes()) {
      if (out.attribute(a.name()) != nullptr) {
        complain(offset_of(a.name()), fmt::format("attribute '{}' given twice", a.name()),
                 "keep one of the two");
      }
      if (const char* less = std::strchr(a.value(), '<')) {
        complain(offset_of(less), fmt::format("'<' in the value of attribute '{}'", a.name()),
                 "write &lt; for the character itself; is a quote missing?");
      }
      out.attributes.emplace_back(a.name(), decode(a.value()));
    }
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) out.children.push_back(element(child, depth + 1));
      if (child.type() == pugi::node_pcdata) out.text += decode(child.value());
    }
    return out;
  }

  std::string decode(const char* in_buffer) {
    const std::string_view raw(in_buffer);
    std::string out;
    std::size_t done = 0;
    while (true) {
      const std::size_t amp = raw.find('&', done);
      out += raw.substr(done, amp - done);
      if (amp == std::string_view::npos) return out;
      std::size_t end = amp + 1;
      while (end < raw.size() && is_entity_character(raw[end])) ++end;
      const bool closed = end < raw.size() && raw[end] == ';';
      const auto name = closed ? raw.substr(amp + 1, end - amp - 1) : std::string_view{};
      if (const auto c = entity(name)) {
        append_utf8(out, *c);
      } else {
        complain(offset_of(in_buffer) + amp,
                 closed ? fmt::format("unknown entity '&{};'", name) : "a bare '&'",
                 "write &amp; for the character itself");
      }
      done = closed ? end + 1 : amp + 1;
    }
  }

  std::string_view text_;
  const std::string& file_;
  LineIndex lines_;
  std::string buffer_;  // pugixml parses in place; names and values point in here
  pugi::xml_document document_;
  Diagnostics diagnostics_;
};

}  // namespace

const std::string* XmlElement::attribute(std::string_view key) const {
  for (const auto& [name, value] : attributes) {
    if (name == key) return &value;
  }
  return nullptr;
}

XmlElement parse_xml(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return Reader(text, file).read();
}

}  // namespace weft
