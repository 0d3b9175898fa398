#include "app/bench_point.h"

#include <fmt/format.h>

#include "base/text.h"
#include "measured/measured.h"
#include "report/point_report.h"

namespace weft::app {
namespace {

constexpr std::string_view kHost = "host";

// The end that an option names: a GPU, a CPU (its memory), or a NIC, which pins it and stands for
// the host memory beside it.
struct End {
  fabric::DeviceId memory;
  std::optional<fabric::DeviceId> nic;
};

End end_of(const fabric::Fabric& fabric, const std::string& name, std::string_view option) {
  const fabric::DeviceId device = find_device(fabric, name, option);
  if (fabric.kind(device) != fabric::DeviceKind::nic) return {device, std::nullopt};
  return {pointtest::host_memory_of(fabric, device), device};
}

fabric::DeviceId nth(const fabric::Fabric& fabric, fabric::DeviceKind kind, std::size_t server,
                     std::size_t n) {
  if (server >= fabric.server_count())
    throw InputError({"command line", 0, 0}, "the test needs a second server",
                     "add --nodes 2, or name a cluster");
  const auto all = fabric.of_kind(kind, fabric::ServerId(server));
  if (n >= all.size())
    throw InputError({"command line", 0, 0},
                     fmt::format("server {} has no {} {}", server, to_text(kind), n),
                     "say --from and --to");
  return all[n];
}

// Ends when none are named: as people run the tool.
void default_ends(const pointtest::Found& test, const fabric::Fabric& fabric,
                  fabric::PathQuery& path) {
  const std::string_view family = test.family->name();
  const auto gpu = fabric::DeviceKind::gpu, cpu = fabric::DeviceKind::cpu;
  if (family == "copies") {
    path.destination = nth(fabric, gpu, 0, 0);
    path.source = pointtest::host_memory_of(fabric, path.destination);
  } else if (family == "peer") {
    path.source = nth(fabric, gpu, 0, 0);
    path.destination = nth(fabric, gpu, 0, 1);
  } else {
    const auto kind = family == "staging" ? gpu : cpu;
    path.source = nth(fabric, kind, 0, 0);
    path.destination = nth(fabric, kind, 1, 0);
  }
}

void read_ends(const pointtest::Found& test, const Arguments& arguments,
               const fabric::Fabric& fabric, fabric::PathQuery& path) {
  const auto from = arguments.text("from"), to = arguments.text("to");
  if (!from && !to) {
    default_ends(test, fabric, path);
    return;
  }
  if (!from || !to || (*from == kHost && *to == kHost))
    throw option_error("from", "--from and --to go together", "name a device for at least one end");
  if (*from != kHost) {
    const End end = end_of(fabric, *from, "--from");
    path.source = end.memory;
    path.source_nic = end.nic;
  }
  if (*to != kHost) {
    const End end = end_of(fabric, *to, "--to");
    path.destination = end.memory;
    path.destination_nic = end.nic;
  }
  if (*from == kHost) path.source = pointtest::host_memory_of(fabric, path.destination);
  if (*to == kHost) path.destination = pointtest::host_memory_of(fabric, path.source);
}

pointtest::Question question_of(const pointtest::Found& test, const Arguments& arguments,
                                const scenario::Session& session) {
  pointtest::Question question;
  question.fabric = &session.fabric();
  question.costs = &session.costs();
  question.constants = &session.point_constants();
  question.route = session.network_route();
  read_ends(test, arguments, session.fabric(), question.path);
  if (const auto via = arguments.text("via"); via && arguments.given("via"))
    question.path.via = *fabric::parse_via(*via);
  question.path.mover = *arguments.choice("mover", {"copy_engine", "sm"}) == 1
                            ? fabric::Mover::sm
                            : fabric::Mover::copy_engine;
  question.bidirectional = arguments.flag("bidirectional");
  question.read = arguments.flag("read");
  question.peer_access = *arguments.choice("peer_access", {"on", "off"}) == 0;
  question.pairs = static_cast<int>(*arguments.integer("pairs", 1, 4096));
  question.queue_pairs = static_cast<int>(arguments.integer("queue-pairs", 1, 4096).value_or(1));
  question.chunk = arguments.size("chunk");
  return question;
}

std::vector<Bytes> sizes_of(const Arguments& arguments) {
  // Of perftest's -a and OSU's defaults, unless the user says otherwise.
  const std::int64_t begin = arguments.given("begin") ? arguments.size("begin")->count()
                             : arguments.given("end") ? 1
                                                      : 2;
  const std::int64_t end = arguments.given("end")     ? arguments.size("end")->count()
                           : arguments.given("begin") ? std::max<std::int64_t>(begin, 8 << 20)
                                                      : 8 << 20;
  if (begin > end)
    throw option_error("begin", fmt::format("--begin {} is above --end {}", begin, end),
                       "let -b be at most -e");
  const bool add = arguments.given("stepbytes");
  const std::int64_t step = add ? std::max<std::int64_t>(1, arguments.size("stepbytes")->count())
                                : *arguments.integer("stepfactor", 2, 1 << 20);
  constexpr std::size_t kMostRows = 100'000;
  std::vector<Bytes> sizes;
  for (std::int64_t size = begin; size <= end && sizes.size() < kMostRows;
       size = add || size == 0 ? size + (add ? step : 1) : size * step)
    sizes.emplace_back(size);
  return sizes;
}

// Puts the log's values beside the rows of the same size. With no sizes asked for, the log's.
void take_measured(const std::string& path, bool sizes_given, report::PointBench& bench) {
  const measured::Table table = measured::read_any(read_file(path), path);
  if (!sizes_given) bench.rows.clear();
  for (const measured::Row& row : table.rows) {
    const auto value = bench.latency ? std::optional(row.time_us) : row.bandwidth_gb_per_s;
    if (!value || *value <= 0) continue;
    if (!sizes_given) bench.rows.push_back({row.size, 0, 0, "", value});
    for (report::PointRow& ours : bench.rows) {
      if (ours.size == row.size) ours.measured = value;
    }
  }
}

std::string rendered(const report::PointBench& bench, std::size_t format) {
  if (format == 1) return report::point_tool_table(bench);
  if (format == 2) return report::point_json(bench);
  if (format == 3) return report::point_csv(bench);
  return report::point_table(bench);
}

}  // namespace

std::vector<OptionSpec> point_options() {
  return {
      {"from", "", "DEVICE", "point to point: a GPU, CPU or NIC (node0/nic0), or host", ""},
      {"to", "", "DEVICE", "point to point: the other end", ""},
      {"pairs", "", "N", "point to point: pairs of processes at once", "1"},
      {"bidirectional", "", "", "point to point: both ways at once, summed", ""},
      {"read", "", "", "point to point: the mover asks for the data", ""},
      {"peer_access", "", "ON", "point to point: on, or off: GPUs staged by the driver", "on"},
      {"mover", "", "WHO", "point to point: copy_engine or sm", "copy_engine"},
      {"chunk", "", "SIZE", "point to point: of staging through host memory", ""},
  };
}

int run_point_bench(const pointtest::Found& test, const Arguments& arguments,
                    const Streams& streams) {
  const std::size_t format =
      arguments.flag("json") ? 2 : *arguments.choice("format", {"table", "nccl", "json", "csv"});
  const scenario::Library library = shipped_library(arguments);
  const auto source = arguments.text("cluster");
  if (!source)
    throw option_error("cluster", "weft bench needs a cluster", "add -c pair-hdr, or a file");
  const scenario::Session session = open_session(library, *source, arguments, streams);
  const pointtest::Question question = question_of(test, arguments, session);
  report::PointBench bench;
  bench.test = test.test->name;
  bench.summary = test.test->summary;
  bench.latency = test.test->prints == pointtest::Prints::latency;
  bench.source = *source;
  bench.stack = session.stack();
  bench.from = session.fabric().name(question.path.source);
  bench.to = session.fabric().name(question.path.destination);
  bench.pairs = question.pairs;
  bench.queue_pairs = question.queue_pairs;
  bench.assumptions = session.cluster().notes;
  for (const Bytes size : sizes_of(arguments)) bench.rows.push_back({size, 0, 0, "", {}});
  if (const auto log = arguments.text("measured"))
    take_measured(*log, arguments.given("begin") || arguments.given("end"), bench);
  for (report::PointRow& row : bench.rows) {
    const pointtest::Answer answer = test.family->answer(*test.test, question, row.size);
    if (!answer.refusal.empty()) {
      note(streams, fmt::format("{} cannot run there: {}", bench.test, answer.refusal));
      return 1;
    }
    row.time_us = answer.time.to_microseconds();
    row.gb_per_s = answer.gb_per_s;
    row.limit = answer.limit;
    bench.way = answer.way;
  }
  print(streams, rendered(bench, format));
  return 0;
}

}  // namespace weft::app
