// Published measurements beside predictions. A map file (docs/formats/validation.md) names sets of
// rows in CSV files and the cluster each was measured on; a Kind knows how to read the rows of its
// sort of measurement and to ask the model the same question. Points are the result; score.h sums
// them up. What is left out: the spread of repeated measurements, which published rows do not give.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/yaml.h"
#include "scenario/session.h"
#include "validate/peers.h"

namespace weft::validate {

// One measured row and what the model says of it, in the same unit.
struct Point {
  std::size_t set = 0;        // index into Map::sets
  int line = 0;               // in the CSV file
  std::string what;           // "all_reduce", "H2D gpu0", "ib_write_lat"
  std::string measure_class;  // "collectives_large", "copies", ... (kinds name theirs)
  Bytes size;
  double measured = 0, predicted = 0;
  std::string unit;                       // "us", "GB/s", "ns"
  std::string nic, nic_vendor;            // of the first NIC
  int nodes = 1, compute_capability = 0;  // servers taking part; of the GPUs, 0: none
  PeerTimes peers{};                      // what other models say, in us; 0: not covered
  std::string chosen;                     // algorithm and protocol, or the way taken
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

struct Set;

// Opens the cluster of a set once; constants may be exchanged for a fit.
class Predictor {
 public:
  virtual ~Predictor() = default;
  [[nodiscard]] virtual const scenario::Session& session(const Set& set) const = 0;
};

// Reads and predicts the rows of one set. Faults of rows go into the diagnostics.
class Judge {
 public:
  virtual ~Judge() = default;
  virtual void judge(const Set& set, const CsvTable& table, const Predictor& predictor,
                     Diagnostics& diagnostics, std::vector<Point>& out) const = 0;
};

// A sort of measurement: one file and one row of list.def.
class Kind {
 public:
  virtual ~Kind() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;
  // Takes its own keys from the set's mapping.
  [[nodiscard]] virtual std::unique_ptr<Judge> read(Fields& fields,
                                                    Diagnostics& diagnostics) const = 0;
};

std::span<const Kind* const> all_kinds();

struct Filter {
  std::string column;
  std::vector<std::string> values;  // any of them
};

struct Set {
  std::string name;
  std::string file;    // CSV, beside the map
  std::string tier;    // A, B, C: how far the rows are to be believed
  std::string system;  // what is left out together by --leave-one-out
  const Kind* kind = nullptr;
  std::shared_ptr<const Judge> judge;
  scenario::TextAt cluster;
  std::optional<std::int64_t> nodes;
  std::optional<scenario::TextAt> stack;
  int queue_pairs = 1;
  fabric::Via via = fabric::Via::automatic;
  std::vector<Filter> where;
  bool fit = true;     // constants may be fitted on its rows
  std::string excuse;  // evidence that the system was broken or is unknown
  SourcePosition position;
  // Counts towards the judged scores: of tier A or B and with nothing said against it.
  [[nodiscard]] bool judged() const { return tier != "C" && excuse.empty(); }
};

// Rows that no set judges, and why.
struct NotJudged {
  std::string file;
  std::vector<Filter> where;
  std::string reason;
};

struct Map {
  std::string file;
  std::vector<Set> sets;
  std::vector<NotJudged> not_judged;
};

// Throws InputError with every fault of the file.
Map parse_map(std::string_view text, const std::string& file);

// Rows that pass all filters.
std::vector<const CsvTable::Row*> rows_passing(const std::vector<Filter>& where,
                                               const CsvTable& table);
// Rows of `set` that its filters keep.
std::vector<const CsvTable::Row*> rows_of(const Set& set, const CsvTable& table);

// "collectives_small" (below 64 KiB), "_medium", "_large" (16 MiB and more).
std::string size_class(std::string_view kind, Bytes size);

struct RunOptions {
  const scenario::Library* library = nullptr;
  // Constants of the collective model in place of the shipped ones.
  std::optional<collective::Constants> constants;
  // Called after each set with how many are done.
  std::function<void(std::size_t)> progress;
};

// Every point of every set, in the order of the map. Throws InputError.
std::vector<Point> run(const Map& map, const RunOptions& options);

}  // namespace weft::validate
