// ibnetdiscover -p: one line a port, `SW 51 79 0xGUID 4x HDR - CA 88 1 0xGUID ( 'a' - 'b' )`; a
// port without a cable has no second half.
#include <fmt/format.h>

#include "base/text.h"
#include "import/ib_records.h"

namespace weft::import {

namespace {

using Kind = IbDump::Kind;

std::optional<Kind> kind_of(std::string_view word) {
  if (word == "SW") return Kind::network_switch;
  if (word == "CA") return Kind::adapter;
  if (word == "RT") return Kind::router;
  return std::nullopt;
}

class PortListReader {
 public:
  PortListReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  IbDump read() {
    for (const std::string_view line : split(text_, '\n')) {
      ++number_;
      const std::string_view words = trim(line);
      if (!words.empty() && words.front() != '#') read_line(words);
    }
    if (diagnostics_.empty() && dump_.nodes.empty())
      diagnostics_.add({file_, 1, 1}, "no port in this list",
                       "save the output of ibnetdiscover -p");
    diagnostics_.throw_if_any(text_);
    return std::move(dump_);
  }

 private:
  struct End {
    Kind kind = Kind::network_switch;
    int lid = 0, port = 0;
    std::string guid;
  };

  void complain(std::string what) {
    diagnostics_.add(
        {file_, number_, 1}, std::move(what),
        "a line reads CA 88 1 0x0002c90300000001 4x HDR - SW 51 79 0x... ( 'a' - 'b' )");
  }

  std::optional<End> read_end(const std::vector<std::string_view>& words, std::size_t at) {
    if (at + 3 >= words.size()) {
      complain("a port has kind, LID, number and GUID");
      return std::nullopt;
    }
    const auto kind = kind_of(words[at]);
    const auto lid = parse_int(words[at + 1]), port = parse_int(words[at + 2]);
    const auto guid = parse_hex(words[at + 3]);
    if (!kind || !lid || *lid < 0 || *lid > 0xffff || !port || *port < 1 || *port > 254 || !guid) {
      complain(fmt::format("'{} {} {} {}' is no port", words[at], words[at + 1], words[at + 2],
                           words[at + 3]));
      return std::nullopt;
    }
    return End{*kind, static_cast<int>(*lid), static_cast<int>(*port),
               fmt::format("{}-{:016x}",
                           *kind == Kind::network_switch ? 'S'
                           : *kind == Kind::router       ? 'R'
                                                         : 'H',
                           *guid)};
  }

  std::size_t node_of(const End& end, std::string_view description) {
    // Lists that were made anonymous give one GUID to several adapters; their LIDs still differ.
    const std::string key =
        end.kind == Kind::network_switch ? end.guid : fmt::format("{}.{}", end.guid, end.lid);
    const auto [at, fresh] = index_.try_emplace(key, dump_.nodes.size());
    if (fresh) {
      dump_.nodes.emplace_back();
      dump_.nodes.back().id = end.guid;
      dump_.nodes.back().kind = end.kind;
      dump_.nodes.back().where = {file_, number_, 1};
    }
    IbDump::Node& node = dump_.nodes[at->second];
    if (node.description.empty()) node.description = trim(description);
    node.lid = end.lid;
    return at->second;
  }

  // The names between quotes at the end: 'a' - 'b', or one.
  static std::vector<std::string_view> names_of(std::string_view line) {
    std::vector<std::string_view> names;
    const std::size_t open = line.find('(');
    const std::string_view inside = open == line.npos ? line : line.substr(open);
    const std::size_t middle = inside.find("' - '");
    const std::size_t first = inside.find('\''), last = inside.rfind('\'');
    if (first == inside.npos || last <= first) return names;
    if (middle == inside.npos) return {inside.substr(first + 1, last - first - 1)};
    names.push_back(inside.substr(first + 1, middle - first - 1));
    names.push_back(inside.substr(middle + 5, last > middle + 5 ? last - middle - 5 : 0));
    return names;
  }

  void read_line(std::string_view line) {
    const auto words = split_whitespace(line);
    const auto here = read_end(words, 0);
    if (!here) return;
    if (words.size() < 6) return complain("width and speed are missing");
    const auto speed = parse_ib_speed(fmt::format("{}{}", words[4], words[5]));
    const auto names = names_of(line);
    if (words.size() < 7 || words[6] != "-") {
      node_of(*here, names.empty() ? "" : names[0]);
      ++dump_.unconnected;
      return;
    }
    if (!speed) return complain(fmt::format("'{} {}' is no width and speed", words[4], words[5]));
    const auto there = read_end(words, 7);
    if (!there) return;
    const std::size_t a = node_of(*here, names.empty() ? "" : names[0]);
    const std::size_t b = node_of(*there, names.size() < 2 ? "" : names[1]);
    if (a == b) return complain("a cable that begins and ends at one node");
    join(a, here->port, b, there->port, *speed);
    join(b, there->port, a, here->port, *speed);
  }

  void join(std::size_t a, int port_a, std::size_t b, int port_b, const IbSpeed& speed) {
    IbDump::Port port{port_a, b, port_b, speed.lanes, speed.speed, {file_, number_, 1}};
    const auto [at, fresh] = dump_.nodes[a].cabled.try_emplace(port_a, port);
    if (fresh || (at->second.peer == b && at->second.peer_port == port_b)) return;
    complain(fmt::format("port {} of {} has another cable on line {}", port_a, dump_.nodes[a].id,
                         at->second.where.line));
  }

  std::string_view text_;
  std::string file_;
  int number_ = 0;
  IbDump dump_;
  Diagnostics diagnostics_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace

bool looks_like_ib_port_list(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 4096), '\n')) {
    const auto words = split_whitespace(line);
    if (words.empty() || words[0].front() == '#') continue;
    return words.size() >= 6 && kind_of(words[0]) && parse_int(words[1]) && parse_int(words[2]) &&
           starts_with(words[3], "0x");
  }
  return false;
}

IbDump read_ib_port_list(std::string_view text, const std::string& file) {
  return PortListReader(text, file).read();
}

}  // namespace weft::import
