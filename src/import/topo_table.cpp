#include "import/topo_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "import/topo_lexer.h"

namespace weft::import {

namespace {

using fabric::PathClass;
using fabric::PathKind;

constexpr std::size_t kMaxDevices = 256;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool is_gpu_name(std::string_view text) {
  return text.size() <= 7 && text.starts_with("GPU") && all_digits(text.substr(3));
}

// GPU3, NIC0, mlx5_0, bnxt_re1, ibp177s0f0, rdmap79s0: letters first, a digit somewhere.
bool is_device_name(std::string_view text) {
  if (text.empty() || text.size() > 32) return false;
  const bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
  return letter && text.find_first_of("0123456789") != text.npos &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == text.npos;
}

std::optional<PathClass> parse_cell(std::string_view text) {
  if (text == "X") return PathClass{PathKind::self, 0};
  if (text == "PIX") return PathClass{PathKind::pix, 0};
  if (text == "PXB") return PathClass{PathKind::pxb, 0};
  if (text == "PHB") return PathClass{PathKind::phb, 0};
  if (text == "NODE") return PathClass{PathKind::node, 0};
  if (text == "SYS" || text == "SOC")
    return PathClass{PathKind::sys, 0};  // SOC: drivers before 2018
  if (text.starts_with("NV") && all_digits(text.substr(2)) && text.size() <= 4) {
    const auto links = parse_int(text.substr(2));
    if (links && *links > 0) return PathClass{PathKind::nvlink, static_cast<int>(*links)};
  }
  return std::nullopt;
}

enum class Affinity { cpu, numa, gpu_numa };

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& file)
      : text_(text), file_(file), lines_(lex_topo(text)) {}

  [[nodiscard]] bool has_table() {
    if (!find_header()) return false;
    for (const TopoLine& line : lines_) {
      if (line.tokens.size() >= 2 && line.tokens[0].text == names_.front() &&
          parse_cell(line.tokens[1].text)) {
        return true;
      }
    }
    return false;
  }

  TopoTable read() {
    if (!find_header()) {
      throw InputError(headless_.value_or(SourcePosition{file_, 1, 1}),
                       "no header line with GPU0, GPU1, ... columns",
                       "paste the whole output of 'nvidia-smi topo -m', header included");
    }
    diagnostics_.throw_if_any(text_);
    refuse_other_tables();
    make_devices();
    read_rows();
    read_legend();
    diagnostics_.throw_if_any(text_);
    check_rows();
    diagnostics_.throw_if_any(text_);
    check_pairs();
    diagnostics_.throw_if_any(text_);
    return std::move(table_);
  }

 private:
  [[nodiscard]] SourcePosition at(const TopoLine& line, const TopoToken& token) const {
    return {file_, line.number, token.column};
  }

  // The names that stand at the start of a line, up to the first affinity heading.
  std::size_t leading_names(const TopoLine& line) const {
    std::size_t n = 0;
    while (n < line.tokens.size() && is_device_name(line.tokens[n].text) &&
           !parse_cell(line.tokens[n].text)) {
      ++n;
    }
    return n;
  }

  bool find_header() {
    if (!names_.empty()) return true;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const TopoLine& line = lines_[i];
      if (line.tokens.empty() || !is_gpu_name(line.tokens.front().text)) continue;
      if (line.tokens.size() > 1 && parse_cell(line.tokens[1].text)) {
        headless_ = at(line, line.tokens.front());
        return false;  // a row
      }
      read_header_line(line);
      // The terminal may have broken the header: more names, or the rest of the headings.
      first_row_ = i + 1;
      while (first_row_ < lines_.size() && continues_header(lines_[first_row_])) {
        read_header_line(lines_[first_row_++]);
      }
      return true;
    }
    return false;
  }

  [[nodiscard]] bool continues_header(const TopoLine& line) const {
    if (line.tokens.empty()) return false;
    const std::size_t names = leading_names(line);
    const bool known = std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return name == line.tokens.front().text;
    });
    if (known) return false;
    if (names == 0) return heading_at(line, 0).has_value();
    return names == line.tokens.size() || heading_at(line, names).has_value();
  }

  struct Heading {
    Affinity what;
    std::size_t words;
  };

  // "CPU Affinity", "NUMA Affinity", "GPU NUMA ID", or "NUMA" alone.
  static std::optional<Heading> heading_at(const TopoLine& line, std::size_t i) {
    const auto word = [&](std::size_t k) {
      return k < line.tokens.size() ? to_lower(line.tokens[k].text) : std::string();
    };
    const std::size_t affinity = word(i + 1) == "affinity" ? 2 : 1;
    if (word(i) == "cpu") return Heading{Affinity::cpu, affinity};
    if (word(i) == "numa") return Heading{Affinity::numa, affinity};
    if (word(i) == "gpu" && word(i + 1) == "numa") {
      return Heading{Affinity::gpu_numa, word(i + 2) == "id" ? std::size_t{3} : std::size_t{2}};
    }
    return std::nullopt;
  }

  void read_header_line(const TopoLine& line) {
    std::size_t i = leading_names(line);
    for (std::size_t k = 0; k < i; ++k) {
      if (names_.size() == kMaxDevices) {
        throw InputError(at(line, line.tokens[k]), fmt::format("more than {} columns", kMaxDevices),
                         "one matrix shows one server");
      }
      const std::string& name = line.tokens[k].text;
      if (!index_.try_emplace(name, names_.size()).second) {
        diagnostics_.add(at(line, line.tokens[k]), fmt::format("a second column '{}'", name),
                         "every device has one column");
        continue;
      }
      names_.push_back(name);
      name_places_.push_back(at(line, line.tokens[k]));
    }
    while (i < line.tokens.size()) {
      const auto heading = heading_at(line, i);
      if (!heading) {
        diagnostics_.add(at(line, line.tokens[i]),
                         fmt::format("column heading '{}' is not known", line.tokens[i].text),
                         "device names, then CPU Affinity, NUMA Affinity, GPU NUMA ID");
        return;
      }
      headings_.push_back(heading->what);
      i += heading->words;
    }
  }

  void refuse_other_tables() {
    for (const TopoLine& line : lines_) {
      if (line.tokens.size() < 3 || line.tokens[0].text != names_.front()) continue;
      for (const std::string_view word : {"OK", "CNS", "GNS", "TNS", "NS"}) {
        if (line.tokens[1].text != word && line.tokens[2].text != word) continue;
        throw InputError(at(line, line.tokens[1]),
                         "this is the table of 'nvidia-smi topo -p2p', not of 'topo -m'",
                         "give the output of 'nvidia-smi topo -m'");
      }
      if (line.tokens[1].text == "XGMI" || line.tokens[2].text == "XGMI") {
        throw InputError(at(line, line.tokens[1]), "this is a table of AMD GPUs (XGMI)",
                         "give RCCL's topology dump (NCCL_TOPO_DUMP_FILE) instead");
      }
    }
  }

  void make_devices() {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      TopoTable::Device device;
      device.name = names_[i];
      device.gpu = is_gpu_name(names_[i]);
      device.where = name_places_[i];
      if (!device.gpu && !names_[i].starts_with("NIC")) device.nic_name = names_[i];
      table_.devices.push_back(std::move(device));
    }
    table_.cells.resize(names_.size());
  }

  void read_rows() {
    for (std::size_t i = first_row_; i < lines_.size(); ++i) {
      TopoLine line = lines_[i];
      if (line.tokens.empty()) continue;
      if (to_lower(line.tokens.front().text).starts_with("legend")) break;
      if (line.tokens.front().text == "NIC" && line.tokens.size() > 1) break;  // "NIC Legend:"
      const auto row = index_.find(line.tokens.front().text);
      if (row == index_.end()) {
        complain_of_stranger(line);
        continue;
      }
      read_row(row->second, i);
    }
  }

  // A line that is no row: prompts and fences are passed over, a row of an unknown device is not.
  void complain_of_stranger(const TopoLine& line) {
    const std::string& first = line.tokens.front().text;
    if (!is_device_name(first) || line.tokens.size() < 2 || !parse_cell(line.tokens[1].text))
      return;
    diagnostics_.add(at(line, line.tokens.front()), fmt::format("row '{}' has no column", first),
                     "the header must name every device that has a row");
  }

  // Reads the row that starts on line `i`, and the lines that a terminal broke off it.
  void read_row(std::size_t row, std::size_t& i) {
    if (!table_.cells[row].empty()) {
      diagnostics_.add(at(lines_[i], lines_[i].tokens.front()),
                       fmt::format("a second row '{}'", names_[row]), "every device has one row");
      return;
    }
    table_.devices[row].where = at(lines_[i], lines_[i].tokens.front());
    std::vector<std::string> rest;
    std::size_t token = 1;
    while (true) {
      const TopoLine& line = lines_[i];
      for (; token < line.tokens.size(); ++token) {
        if (table_.cells[row].size() < names_.size()) {
          read_cell(row, line, line.tokens[token]);
        } else {
          rest.push_back(line.tokens[token].text);
        }
      }
      if (table_.cells[row].size() == names_.size() || !continues_row(i + 1)) break;
      ++i;
      token = 0;
    }
    if (table_.cells[row].size() < names_.size()) {
      diagnostics_.add(table_.devices[row].where,
                       fmt::format("row '{}' has {} cells, the header has {} devices", names_[row],
                                   table_.cells[row].size(), names_.size()),
                       "paste the row whole; it may have been cut at the edge of a window");
    }
    read_affinity(row, rest);
  }

  [[nodiscard]] bool continues_row(std::size_t i) const {
    if (i >= lines_.size() || lines_[i].tokens.empty()) return false;
    return parse_cell(lines_[i].tokens.front().text).has_value();
  }

  void read_cell(std::size_t row, const TopoLine& line, const TopoToken& token) {
    const auto path = parse_cell(token.text);
    if (!path) {
      diagnostics_.add(at(line, token),
                       fmt::format("cell {} - {} says '{}'", names_[row],
                                   names_[table_.cells[row].size()], token.text),
                       "X, PIX, PXB, PHB, NODE, SYS or NV with a number of links");
    }
    table_.cells[row].push_back(
        {path.value_or(PathClass{PathKind::sys, 0}), token.text, at(line, token)});
  }

  static bool is_list(std::string_view text) {
    return text == "N/A" || (!text.empty() && text.find_first_not_of("0123456789,-") == text.npos);
  }

  void read_affinity(std::size_t row, const std::vector<std::string>& rest) {
    TopoTable::Device& device = table_.devices[row];
    if (!device.gpu) return;  // NIC rows have none; some versions pad them
    if (rest.size() > headings_.size()) {
      diagnostics_.add(device.where,
                       fmt::format("row '{}' has {} columns more than the header", device.name,
                                   rest.size() - headings_.size()),
                       "the header must name every column, CPU Affinity and NUMA Affinity too");
      return;
    }
    for (std::size_t k = 0; k < rest.size(); ++k) {
      if (!is_list(rest[k])) {
        diagnostics_.add(
            device.where,
            fmt::format("affinity '{}' of {} is no list of numbers", rest[k], device.name),
            "as in 0-23,48-71 or N/A");
      }
      if (headings_[k] == Affinity::cpu) device.cpu_affinity = rest[k];
      if (headings_[k] == Affinity::numa) device.numa_affinity = rest[k];
      if (headings_[k] == Affinity::gpu_numa) device.gpu_numa_id = rest[k];
    }
  }

  // "NIC0: mlx5_0"
  void read_legend() {
    for (const TopoLine& line : lines_) {
      if (line.tokens.size() != 2 || !line.tokens[0].text.ends_with(':')) continue;
      const std::string name = line.tokens[0].text.substr(0, line.tokens[0].text.size() - 1);
      const auto found = index_.find(name);
      if (found == index_.end()) {
        if (!name.starts_with("NIC") || !all_digits(name.substr(3))) continue;
        diagnostics_.add(at(line, line.tokens[0]),
                         fmt::format("the legend names {}, which has no column", name),
                         "paste header, rows and legend of one output");
        continue;
      }
      table_.devices[found->second].nic_name = line.tokens[1].text;
    }
  }

  // Copies cut short after the GPU rows still tell everything about GPUs.
  void check_rows() {
    const auto missing = [&](std::size_t i) { return table_.cells[i].empty(); };
    bool every_nic = true;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      every_nic = every_nic && (table_.devices[i].gpu ? !missing(i) : missing(i));
    }
    if (every_nic) return fill_nic_rows();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!missing(i)) continue;
      diagnostics_.add(name_places_[i], fmt::format("column '{}' has no row", names_[i]),
                       "paste the whole output; every device has a column and a row");
    }
  }

  void fill_nic_rows() {
    std::vector<std::size_t> gpus, nics;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      (table_.devices[i].gpu ? gpus : nics).push_back(i);
    }
    if (nics.empty()) return;
    table_.nic_rows_missing = true;
    for (const std::size_t a : nics) {
      table_.cells[a].resize(names_.size());
      for (const std::size_t b : gpus) table_.cells[a][b] = table_.cells[b][a];
      for (const std::size_t b : nics) {
        table_.cells[a][b] = {a == b ? PathClass{PathKind::self, 0} : nic_distance(gpus, a, b),
                              "(no row)", name_places_[a]};
      }
    }
  }

  // In a tree, two NICs that one GPU sees at different distances are the larger of them apart;
  // else they are no farther apart than either is from the nearest GPU.
  [[nodiscard]] PathClass nic_distance(const std::vector<std::size_t>& gpus, std::size_t a,
                                       std::size_t b) const {
    PathKind nearest = PathKind::sys;
    for (const std::size_t gpu : gpus) {
      const PathKind to_a = table_.cells[gpu][a].path.kind;
      const PathKind to_b = table_.cells[gpu][b].path.kind;
      if (to_a != to_b) return PathClass{std::max(to_a, to_b), 0};
      nearest = std::min(nearest, to_a);
    }
    return PathClass{nearest, 0};
  }

  void check_pairs() {
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = 0; b < names_.size(); ++b) check_cell(a, b);
    }
  }

  void check_cell(std::size_t a, std::size_t b) {
    const TopoTable::Cell& cell = table_.cells[a][b];
    const bool self = cell.path.kind == PathKind::self;
    if (self != (a == b)) {
      diagnostics_.add(cell.where,
                       fmt::format("cell {} - {} says {}", names_[a], names_[b], cell.text),
                       "X stands on the diagonal, and only there");
      return;
    }
    if (cell.path.kind == PathKind::nvlink && !(table_.devices[a].gpu && table_.devices[b].gpu)) {
      diagnostics_.add(cell.where,
                       fmt::format("cell {} - {} says {}", names_[a], names_[b], cell.text),
                       "NVLink joins GPUs only");
      return;
    }
    if (a < b) return;
    const TopoTable::Cell& other = table_.cells[b][a];
    if (other.path == cell.path) return;
    diagnostics_.add(cell.where,
                     fmt::format("cell {} - {} says {}, but {} - {} says {} (line {}, column {})",
                                 names_[a], names_[b], cell.text, names_[b], names_[a], other.text,
                                 other.where.line, other.where.column),
                     "the matrix is symmetric: one of the two was changed");
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<TopoLine> lines_;
  Diagnostics diagnostics_;
  TopoTable table_;
  std::vector<std::string> names_;
  std::vector<SourcePosition> name_places_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<Affinity> headings_;
  std::size_t first_row_ = 0;
  std::optional<SourcePosition> headless_;  // a row that no header stands above
};

}  // namespace

bool looks_like_topo_table(std::string_view text) {
  static const std::string kNoFile;
  return TableReader(text, kNoFile).has_table();
}

TopoTable read_topo_table(std::string_view text, const std::string& file) {
  return TableReader(text, file).read();
}

}  // namespace weft::import
