#include "import/ib_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace weft::import {

namespace {

using Node = IbDump::Node;
using Kind = IbDump::Kind;

constexpr int kMostPorts = 254;  // IBTA: port numbers of a switch

// One line, read from left to right.
class Line {
 public:
  Line(std::string_view text, SourcePosition where) : text_(text), where_(std::move(where)) {}

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool done() {
    skip_blanks();
    return at_ >= text_.size();
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  // Up to `end`, which is taken too; nullopt when it does not come.
  std::optional<std::string_view> until(char end) {
    const std::size_t stop = text_.find(end, at_);
    if (stop == std::string_view::npos) return std::nullopt;
    const std::string_view piece = text_.substr(at_, stop - at_);
    at_ = stop + 1;
    return piece;
  }
  std::optional<std::string_view> quoted() { return take('"') ? until('"') : std::nullopt; }
  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  // Where the next character is; columns count code points.
  [[nodiscard]] SourcePosition here() const {
    SourcePosition position = where_;
    position.column = position_at(text_, std::min(at_, text_.size()), "").column;
    return position;
  }

 private:
  std::string_view text_;
  SourcePosition where_;
  std::size_t at_ = 0;
};

class RecordReader {
 public:
  RecordReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  IbDump read() {
    int number = 0;
    for (const std::string_view line : split(text_, '\n')) {
      ++number;
      if (trim(line).empty()) {
        current_.reset();
        continue;
      }
      read_line(Line(line, {file_, number, 1}));
    }
    if (dump_.nodes.empty() && diagnostics_.empty()) {
      diagnostics_.add({file_, 1, 1}, "there is no switch and no channel adapter in this dump",
                       "save the whole output of ibnetdiscover");
    }
    if (diagnostics_.empty()) check_ends();
    diagnostics_.throw_if_any(text_);
    return std::move(dump_);
  }

 private:
  void read_line(Line line) {
    line.skip_blanks();
    const char first = line.peek();
    if (first == '#') return;
    if (first == '[') return read_port(line);
    Line whole = line;
    const SourcePosition where = line.here();
    const std::string_view word = line.word();
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      return read_attribute(word.substr(0, equals), word.substr(equals + 1), where);
    }
    if (word == "Switch") return read_header(line, Kind::network_switch, where);
    if (word == "Ca" || word == "Hca" || word == "CA" || word == "HCA")
      return read_header(line, Kind::adapter, where);
    if (word == "Rt" || word == "Router") return read_header(line, Kind::router, where);
    if (word == "Chassis" || word == "Non-Chassis" || word == "Line" || word == "Spine" ||
        word == "vendid" || word == "do" || word == "module") {
      return;
    }
    if (word == "include") {
      diagnostics_.add(where, "include is not followed", "put both files into one");
      return;
    }
    diagnostics_.add(where, fmt::format("'{}' begins no line of a topology dump", word),
                     "lines are Switch, Ca or Rt records and their ports, as ibnetdiscover prints");
  }

  void read_attribute(std::string_view key, std::string_view value, const SourcePosition& where) {
    if (key != "vendid" && key != "devid") return;
    const auto number = parse_hex(value);
    if (!number || *number > 0xffffffffu) {
      diagnostics_.add(where, fmt::format("'{}' is no number for {}", value, key),
                       "write it as ibnetdiscover does: vendid=0x2c9");
      return;
    }
    (key == "vendid" ? vendor_ : device_) = static_cast<std::uint32_t>(*number);
  }

  // Switch 65 "S-0aa..." # "description" enhanced port 0 lid 73 lmc 0
  void read_header(Line& line, Kind kind, const SourcePosition& where) {
    line.skip_blanks();
    const SourcePosition ports_at = line.here();
    const std::string_view count = line.word();
    const auto ports = parse_int(count);
    if (!ports || *ports < 1 || *ports > kMostPorts) {
      diagnostics_.add(ports_at, fmt::format("'{}' is not a number of ports", count),
                       fmt::format("write 1 to {}", kMostPorts));
      return skip_record();
    }
    line.skip_blanks();
    const SourcePosition id_at = line.here();
    const auto id = line.quoted();
    if (!id || id->empty()) {
      diagnostics_.add(id_at, "a record has the node's id in quotes here",
                       "for example Switch 36 \"S-0002c90300000001\"");
      return skip_record();
    }
    Node& node = dump_.nodes[node_called(*id)];
    if (node.ports != 0) {
      diagnostics_.add(id_at, fmt::format("a second record of '{}'", *id),
                       fmt::format("the first is on line {}", node.where.line));
      return skip_record();
    }
    node.kind = kind;
    node.ports = static_cast<int>(*ports);
    node.where = where;
    node.vendor_id = vendor_;
    node.device_id = device_;
    vendor_ = device_ = 0;
    if (line.take('#')) {
      if (const auto text = line.quoted()) node.description = trim(*text);
      node.lid = number_after(line.rest(), "lid");
    }
    current_ = index_.at(std::string(*id));
    skipping_ = false;
  }

  void skip_record() {
    current_.reset();
    skipping_ = true;
  }

  static int number_after(std::string_view text, std::string_view key) {
    const auto words = split_whitespace(text);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] != key) continue;
      const auto number = parse_int(words[i + 1]);
      if (number && *number >= 0 && *number <= 0xffff) return static_cast<int>(*number);
    }
    return 0;
  }

  std::size_t node_called(std::string_view id) {
    const auto [at, fresh] = index_.try_emplace(std::string(id), dump_.nodes.size());
    if (fresh) {
      Node node;
      node.id = id;
      node.kind = starts_with(id, "S-")   ? Kind::network_switch
                  : starts_with(id, "R-") ? Kind::router
                                          : Kind::adapter;
      dump_.nodes.push_back(std::move(node));
    }
    return at->second;
  }

  std::optional<int> port_number(Line& line, std::string_view whose) {
    const SourcePosition where = line.here();
    const auto text = line.take('[') ? line.until(']') : std::nullopt;
    const auto number = text ? parse_int(*text) : std::nullopt;
    if (!number || *number < 1 || *number > kMostPorts) {
      diagnostics_.add(where, fmt::format("the port of {} is missing or no number", whose),
                       "a port line reads [1] \"S-0002c90300000001\"[7]");
      return std::nullopt;
    }
    return static_cast<int>(*number);
  }

  // (GUID) and [ext 3] may follow a port's number; ibsim files may have a space before "(".
  static void skip_guid(Line& line) {
    while (true) {
      Line ahead = line;
      const bool found =
          (ahead.take('(') && ahead.until(')')) || (ahead.take('[') && ahead.until(']'));
      if (!found) return;
      line = ahead;
    }
  }

  // [1](guid) "S-0aa..."[65](guid) # lid 193 lmc 0 "description" lid 73 4xNDR
  void read_port(Line line) {
    const SourcePosition where = line.here();
    if (!current_) {
      if (!skipping_)
        diagnostics_.add(where, "a port that belongs to no record",
                         "the line 'Switch 36 \"...\"' goes before its ports");
      return;
    }
    IbDump::Port port;
    port.where = where;
    const auto number = port_number(line, "this node");
    if (!number) return;
    port.number = *number;
    skip_guid(line);
    line.skip_blanks();
    const SourcePosition peer_at = line.here();
    const auto id = line.quoted();
    if (!id || id->empty()) {
      diagnostics_.add(peer_at, "the other end of the cable is missing",
                       "it is an id in quotes: \"S-0002c90300000001\"[7]");
      return;
    }
    const auto peer_port = port_number(line, "the other end");
    if (!peer_port) return;
    port.peer_port = *peer_port;
    skip_guid(line);
    port.peer = node_called(*id);
    read_remark(line, port);
    keep(port, *id);
  }

  void read_remark(Line& line, IbDump::Port& port) {
    if (line.done()) return;
    line.take('#');
    const std::string_view remark = line.rest();
    const auto words = split_whitespace(remark);
    if (!words.empty()) {
      if (const auto speed = parse_ib_speed(words.back())) {
        port.width = speed->lanes;
        port.speed = speed->speed;
      }
    }
    // Of an adapter's line the quoted text is the peer's description, as it is of a switch's.
    const std::size_t open = remark.find('"');
    const std::size_t close = open == remark.npos ? remark.npos : remark.find('"', open + 1);
    Node& peer = dump_.nodes[port.peer];
    if (close != remark.npos && peer.description.empty())
      peer.description = trim(remark.substr(open + 1, close - open - 1));
  }

  void keep(const IbDump::Port& port, std::string_view peer_id) {
    Node& node = dump_.nodes[*current_];
    if (port.number > node.ports) {
      diagnostics_.add(port.where,
                       fmt::format("port {} of a node that has {}", port.number, node.ports),
                       "the record's first line gives the number of ports");
    } else if (port.peer == *current_ && port.peer_port == port.number) {
      diagnostics_.add(port.where, "this cable begins and ends at one port", "name its other end");
    } else if (!node.cabled.emplace(port.number, port).second) {
      diagnostics_.add(
          port.where,
          fmt::format("port {} already has a cable, and '{}' is a second", port.number, peer_id),
          fmt::format("the first is on line {}", node.cabled.at(port.number).where.line));
    }
  }

  // What one end says must be what the other says, where it says anything.
  void check_ends() {
    for (std::size_t n = 0; n < dump_.nodes.size(); ++n) {
      for (const auto& [number, port] : dump_.nodes[n].cabled) check_end(n, port);
    }
    if (!diagnostics_.empty()) return;
    for (std::size_t n = 0; n < dump_.nodes.size(); ++n) {
      const auto ports = dump_.nodes[n].cabled;
      for (const auto& [number, port] : ports) {
        Node& peer = dump_.nodes[port.peer];
        IbDump::Port back = port;
        back.number = port.peer_port;
        back.peer = n;
        back.peer_port = number;
        peer.cabled.try_emplace(back.number, back);
      }
    }
  }

  void check_end(std::size_t n, const IbDump::Port& port) {
    const Node& node = dump_.nodes[n];
    const Node& peer = dump_.nodes[port.peer];
    if (peer.ports != 0 && port.peer_port > peer.ports) {
      diagnostics_.add(
          port.where, fmt::format("'{}' has {} ports, not {}", peer.id, peer.ports, port.peer_port),
          fmt::format("its record is on line {}", peer.where.line));
      return;
    }
    if (port.peer == n) {
      diagnostics_.add(port.where, fmt::format("a cable from '{}' to itself", node.id),
                       "a looped port carries nothing: leave the line out");
      return;
    }
    const auto back = peer.cabled.find(port.peer_port);
    const auto [owner, fresh] =
        claimed_.try_emplace({port.peer, port.peer_port}, std::make_pair(n, port.number));
    const bool twice = !fresh && owner->second != std::make_pair(n, port.number);
    const bool differs = back != peer.cabled.end() &&
                         (back->second.peer != n || back->second.peer_port != port.number);
    if (!twice && !differs) return;
    const Node& other = dump_.nodes[differs ? back->second.peer : owner->second.first];
    diagnostics_.add(
        port.where,
        fmt::format("this port leads to '{}'[{}], which leads to '{}'", peer.id, port.peer_port,
                    other.id),
        differs ? fmt::format("line {} says so; one of the two is wrong", back->second.where.line)
                : "a port takes one cable");
  }

  std::string_view text_;
  std::string file_;
  IbDump dump_;
  Diagnostics diagnostics_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::pair<std::size_t, int>, std::pair<std::size_t, int>> claimed_;
  std::optional<std::size_t> current_;
  bool skipping_ = false;
  std::uint32_t vendor_ = 0, device_ = 0;
};

}  // namespace

IbDump read_ib_records(std::string_view text, const std::string& file) {
  return RecordReader(text, file).read();
}

std::optional<BitRate> ib_rate(int lanes, std::string_view speed) {
  // IBTA: signalling of one lane in Mb/s, less 8b/10b up to QDR and 64b/66b to EDR; HDR and later
  // are named by their data rate.
  struct Row {
    std::string_view name;
    std::int64_t lane_mbps;
  };
  static constexpr std::array<Row, 9> kRows = {{{"SDR", 2'000},
                                                {"DDR", 4'000},
                                                {"QDR", 8'000},
                                                {"FDR10", 10'000},
                                                {"FDR", 13'625},
                                                {"EDR", 25'000},
                                                {"HDR", 50'000},
                                                {"NDR", 100'000},
                                                {"XDR", 200'000}}};
  for (const Row& row : kRows) {
    if (row.name == speed) return BitRate::bits_per_second(row.lane_mbps * 1'000'000 * lanes);
  }
  return std::nullopt;
}

std::optional<IbSpeed> parse_ib_speed(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos || x == 0 || x + 1 >= text.size()) return std::nullopt;
  const auto lanes = parse_int(text.substr(0, x));
  const std::string_view speed = text.substr(x + 1);
  if (!lanes || (*lanes != 1 && *lanes != 2 && *lanes != 4 && *lanes != 8 && *lanes != 12))
    return std::nullopt;
  if (!ib_rate(1, speed)) return std::nullopt;
  return IbSpeed{static_cast<int>(*lanes), std::string(speed)};
}

}  // namespace weft::import
