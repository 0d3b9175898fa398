#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/test_folder.h"
#include "base/text.h"
#include "validate/score.h"

namespace weft::validate {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(WEFT_SOURCE_DIR) + "/data/validation/";
const std::string kMap = kFolder + "point_to_point.yaml";

scenario::Library library() {
  const std::filesystem::path root = std::string(WEFT_SOURCE_DIR) + "/data";
  std::vector<scenario::ShippedFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".yaml")
      files.push_back({std::filesystem::relative(entry.path(), root).generic_string(),
                       read_file(entry.path().string())});
  }
  return scenario::Library(std::move(files));
}

const std::vector<Point>& points() {
  static const std::vector<Point> kPoints = [] {
    const scenario::Library shipped = library();
    RunOptions options;
    options.library = &shipped;
    return run(parse_map(read_file(kMap), kMap), options);
  }();
  return kPoints;
}

// A row that no set judges and nobody explains would be a measurement kept quiet.
TEST(PointToPointMap, EveryRowIsJudgedOrNamedWithAReason) {
  const Map map = parse_map(read_file(kMap), kMap);
  std::map<std::string, CsvTable> tables;
  std::map<std::string, std::set<int>> known;
  const auto note = [&](const std::string& file, const std::vector<Filter>& where) {
    const std::string path = kFolder + file;
    if (!tables.contains(path)) tables.emplace(path, CsvTable::parse(read_file(path), path));
    const auto rows = rows_passing(where, tables.at(path));
    EXPECT_FALSE(rows.empty()) << file;
    for (const CsvTable::Row* row : rows) known[path].insert(row->line);
  };
  for (const Set& set : map.sets) note(set.file, set.where);
  for (const NotJudged& entry : map.not_judged) {
    note(entry.file, entry.where);
    EXPECT_FALSE(entry.reason.empty());
  }
  for (const char* folder : {"p2p", "perftest", "latency", "cc"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kFolder + folder)) {
      const std::string path = kFolder + folder + "/" + entry.path().filename().string();
      ASSERT_TRUE(tables.contains(path)) << path << " is in no set";
      for (const CsvTable::Row& row : tables.at(path).rows())
        EXPECT_TRUE(known[path].contains(row.line)) << path << ":" << row.line;
    }
  }
}

double median_of(const std::string& measure_class) {
  std::vector<double> errors;
  for (const Point& point : points()) {
    if (point.measure_class == measure_class) errors.push_back(point.error());
  }
  EXPECT_FALSE(errors.empty()) << measure_class;
  return score_of(errors).median_abs_error;
}

TEST(PointToPointMap, ClassesKeepTheirMedians) {
  EXPECT_LE(median_of("copies"), 0.05);
  EXPECT_LE(median_of("p2p"), 0.05);
  EXPECT_LE(median_of("latency"), 0.12);
}

TEST(PointToPointMap, NoSetIsFurtherOffThanAQuarter) {
  const Map map = parse_map(read_file(kMap), kMap);
  for (const SetScore& set : score(map, points()).sets) {
    if (!set.excuse.empty()) continue;
    EXPECT_LE(set.score.median_abs_error, 0.25) << set.name;
  }
}

// A map with one set over a table of one row, in a scratch folder.
std::string fault_of(const std::string& keys) {
  const TestFolder folder;
  std::ofstream(folder.file("rows.csv")) << "tool,size_bytes,value\nib_write_lat,8,1.0\n";
  const std::string path = folder.file("map.yaml");
  const scenario::Library shipped = library();
  RunOptions options;
  options.library = &shipped;
  try {
    (void)run(
        parse_map("weft: validation/1\nsets:\n  - {name: a, file: rows.csv, tier: A, cluster: "
                  "pair-edr, kind: transfers, " +
                      keys + "}\n",
                  path),
        options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Transfers, FaultsOfRowsAndKeysAreNamed) {
  const std::string ends = "from: node0/cpu0, to: node1/cpu0, unit: us, class: latency, ";
  EXPECT_EQ(fault_of(ends + "test: \"{tool}\""), "");
  EXPECT_THAT(fault_of(ends + "test: ib_fly_lat"), HasSubstr("no test 'ib_fly_lat'"));
  EXPECT_THAT(fault_of(ends + "test: \"{toll}\""), HasSubstr("no column 'toll'"));
  EXPECT_THAT(fault_of(ends + "test: \"{tool}\", colour: red"), HasSubstr("colour"));
  EXPECT_THAT(fault_of("from: node0/gpu9, to: node1/cpu0, unit: us, class: latency, test: x"),
              HasSubstr("no device 'node0/gpu9'"));
  EXPECT_THAT(fault_of("from: node0/cpu0, to: node1/cpu0, unit: furlong, class: latency, "
                       "test: ib_write_lat"),
              HasSubstr("unknown unit"));
  // A latency test prints no rate.
  EXPECT_THAT(fault_of("from: node0/cpu0, to: node1/cpu0, unit: GB/s, class: latency, "
                       "test: ib_write_lat"),
              HasSubstr("does not print GB/s"));
}

}  // namespace
}  // namespace weft::validate
