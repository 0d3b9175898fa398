// The two halves of parse_server_file(): ServerReader takes the file apart (NUMA nodes and PCIe),
// PeerReader the links between GPUs, which need the GPUs to be known.
#pragma once

#include <string>
#include <vector>

#include "base/yaml.h"
#include "import/server_file.h"

namespace weft::import {

class ServerReader {
 public:
  ServerReader(const Catalogue& catalogue, Diagnostics& diagnostics)
      : catalogue_(catalogue), diagnostics_(diagnostics) {}

  ServerFile read(const YamlNode& root);

 private:
  void read_provenance(const YamlNode& node);
  void read_numa_node(const YamlNode& node);
  std::vector<std::string> read_affinity(Fields& fields, std::int64_t count);
  std::vector<PcieNode> read_host_bridge(Fields& fields, std::int64_t times);
  std::vector<PcieNode> read_children(const std::vector<YamlNode>& items, std::int64_t times,
                                      int depth);
  void read_child(const YamlNode& node, std::int64_t times, int depth, std::vector<PcieNode>& out);
  void read_nic_fields(Fields& fields, PcieNode& child);
  void read_link(Fields& fields, PcieNode& child);
  void read_index(Fields& fields, PcieNode& child, bool repeated);
  std::string known_model(Fields& fields, std::string_view key, fabric::DeviceKind kind);
  std::int64_t read_count(Fields& fields, std::int64_t times);
  void read_inter_socket(const YamlNode& node);
  void check_numbers(PcieNode::Kind kind, std::string_view what);

  const Catalogue& catalogue_;
  Diagnostics& diagnostics_;
  ServerFile file_;
  bool too_many_ = false;
};

class PeerReader {
 public:
  PeerReader(const Catalogue& catalogue, Diagnostics& diagnostics, ServerFile& file);

  void read_nvlink(const YamlNode& node);
  void read_xgmi(const YamlNode& node);
  void read_c2c(const YamlNode& node);
  void check();  // call last: links used against links there are

 private:
  struct Pair {
    int a = 0, b = 0;
  };
  std::vector<Pair> read_pairs(Fields& fields, std::string_view key, std::size_t limit_a,
                               std::size_t limit_b, bool same_kind);
  std::vector<Pair> read_mesh(Fields& fields);
  std::vector<int> read_gpus(Fields& fields, std::string_view key);
  void read_switches(Fields& fields, const YamlNode& node);
  std::string read_link_name(Fields& fields, fabric::LinkKind kind);
  int read_links(Fields& fields);

  const Catalogue& catalogue_;
  Diagnostics& diagnostics_;
  ServerFile& file_;
  std::vector<const PcieNode*> gpus_;
  SourcePosition nvlink_at_;
};

}  // namespace weft::import
