// weft bench: the table nccl-tests would print there, predicted.
#include "app/bench.h"

#include <fmt/format.h>

#include "app/bench_moe.h"
#include "app/bench_point.h"
#include "app/commands.h"
#include "app/measured_log.h"
#include "base/text.h"
#include "collective/tuner.h"
#include "report/explain_report.h"

namespace weft::app {
namespace {

std::vector<report::BenchDevice> devices_of(const fabric::Fabric& fabric, const work::Work& work) {
  std::vector<report::BenchDevice> devices;
  const auto gpus = fabric.of_kind(fabric::DeviceKind::gpu);
  for (std::size_t rank = 0; rank < work.rank_gpu.size(); ++rank) {
    const fabric::DeviceId gpu = gpus[work.rank_gpu[rank]];
    const std::string name(fabric.name(gpu));
    const std::string host =
        name.find('/') == std::string::npos ? "node0" : name.substr(0, name.find('/'));
    const std::string_view bus_id = fabric.label(gpu, "bus_id");
    devices.push_back({static_cast<int>(rank), host, static_cast<int>(fabric.info(gpu).local_index),
                       bus_id.empty() ? fmt::format("0000:{:02x}:00", fabric.info(gpu).local_index)
                                      : std::string(bus_id.substr(0, bus_id.find('.'))),
                       fabric.device_class(gpu).model});
  }
  return devices;
}

work::CollectiveKind kind_of(const Arguments& arguments) {
  const std::string word = *arguments.positional(0);
  const std::string name = word.ends_with("_perf") ? word.substr(0, word.size() - 5) : word;
  if (const auto kind = work::parse_collective(name)) return *kind;
  std::vector<std::string> names = work::collective_names();
  for (std::string& test : pointtest::test_names()) names.push_back(std::move(test));
  throw InputError({"command line", 0, 0},
                   fmt::format("there is no collective and no test '{}'", word),
                   suggest(name, names));
}

void check_sweep(const report::Bench& bench) {
  if (bench.begin > bench.end) {
    throw option_error(
        "begin",
        fmt::format("--begin {} is above --end {}", bench.begin.count(), bench.end.count()),
        "let -b be at most -e");
  }
  if (bench.step_is_factor ? bench.step < 2 : bench.step < 1) {
    throw option_error("factor", "the sweep would not advance",
                       "use -f 2 or more, or -i with a size");
  }
  if (bench.step_is_factor && bench.begin.count() == 0) {
    throw option_error("begin", "a sweep by factor cannot begin at 0", "begin at 8, or step by -i");
  }
}

BenchRequest request_of(const Arguments& arguments) {
  BenchRequest request;
  report::Bench& bench = request.bench;
  bench.kind = kind_of(arguments);
  bench.begin = *arguments.size("begin");
  bench.end = *arguments.size("end");
  if (arguments.given("stepbytes")) {
    bench.step_is_factor = false;
    bench.step = arguments.size("stepbytes")->count();
  } else {
    bench.step = *arguments.integer("stepfactor", 2, 1 << 20);
  }
  const std::vector<std::string> types = report::bench_types();
  bench.type = types[*arguments.choice("datatype", types)];
  const std::vector<std::string> redops = {"sum", "prod", "min", "max", "avg"};
  const bool reduces = bench.kind == work::CollectiveKind::all_reduce ||
                       bench.kind == work::CollectiveKind::reduce ||
                       bench.kind == work::CollectiveKind::reduce_scatter;
  bench.redop = reduces ? redops[*arguments.choice("op", redops)] : "none";
  const bool rooted = work::has_root(bench.kind);
  request.root = static_cast<std::uint32_t>(*arguments.integer("root", 0, UINT32_MAX - 1));
  bench.root = rooted ? static_cast<int>(request.root) : -1;
  bench.iterations = static_cast<int>(*arguments.integer("iters", 1, 1'000'000));
  bench.warmup = static_cast<int>(*arguments.integer("warmup_iters", 0, 1'000'000));
  std::vector<std::string> algorithms;
  for (const collective::Algorithm* row : collective::all_algorithms())
    algorithms.emplace_back(row->name());
  if (const auto chosen = arguments.choice("algo", algorithms))
    request.algorithm = algorithms[*chosen];
  if (const auto protocol = arguments.text("proto")) {
    request.protocol = to_lower(*protocol);
    if (!collective::parse_protocol(request.protocol)) {
      throw option_error("proto", fmt::format("there is no protocol '{}'", *protocol),
                         "one of: ll, ll128, simple");
    }
  }
  request.channels = static_cast<int>(arguments.integer("channels", 1, 1024).value_or(0));
  if (const auto gpus = arguments.integer("gpus", 2, UINT32_MAX - 1))
    request.gpus = static_cast<std::uint32_t>(*gpus);
  bench.arguments = arguments.words();
  check_sweep(bench);
  return request;
}

std::string rendered(const report::Bench& bench, const std::string& format) {
  if (format == "nccl") return report::nccl_table(bench);
  if (format == "json") return report::bench_json(bench);
  if (format == "csv") return report::bench_csv(bench);
  return report::bench_table(bench);
}

std::string explanation(const scenario::Session& session, const BenchRequest& request,
                        const report::Bench& bench) {
  collective::Group group;
  const auto gpus = session.fabric().of_kind(fabric::DeviceKind::gpu);
  group.gpus.assign(gpus.begin(), gpus.begin() + bench.ranks);
  const collective::ChannelPlan plan = collective::plan_channels(
      session.fabric(), group,
      {request.channels, report::switch_can_reduce(bench.type, bench.redop)});
  const bool forced =
      !request.algorithm.empty() || !request.protocol.empty() || request.channels > 0;
  std::vector<report::ExplainRow> rows;
  for (const report::BenchRow& row : bench.rows) {
    rows.push_back({row, collective::candidates({bench.kind, row.size, &plan}), forced});
  }
  return report::explain_text(plan, rows);
}

int run(const Arguments& arguments, const Streams& streams) {
  if (const auto point = pointtest::find_test(*arguments.positional(0)))
    return run_point_bench(*point, arguments, streams);
  if (const work::CollectiveKind kind = kind_of(arguments); work::is_moe(kind))
    return run_moe_bench(kind, arguments, streams);
  BenchRequest request = request_of(arguments);
  const std::vector<std::string> formats = {"table", "nccl", "json", "csv"};
  const std::string format =
      arguments.flag("json") ? "json" : formats[*arguments.choice("format", formats)];
  const engine::Engine& engine = chosen_engine(arguments);
  const scenario::Library library = shipped_library(arguments);
  const auto source = arguments.text("cluster");
  if (!source)
    throw option_error("cluster", "weft bench needs a cluster",
                       "add -c demo-8x8-h100-rail, or a file");
  const scenario::Session session = open_session(library, *source, arguments, streams);
  request.bench.source = *source;
  std::optional<measured::Table> log;
  const std::string log_path = arguments.text("measured").value_or("");
  if (!log_path.empty()) {
    log = read_collective_log(log_path);
    ask_as_measured(request, *log, log_path);
  }
  report::Bench bench = sweep(session, engine, request, streams);
  if (log) put_beside(bench, *log, log_path);
  print(streams, rendered(bench, format));
  if (arguments.flag("explain")) {
    print(streams, explanation(session, request, bench));
  }
  if (const auto path = arguments.text("report_json")) write_file(*path, report::nccl_json(bench));
  return 0;
}

}  // namespace

report::Bench sweep(const scenario::Session& session, const engine::Engine& engine,
                    BenchRequest request, const Streams& streams) {
  report::Bench bench = std::move(request.bench);
  work::Work work = scenario::work_on_all_gpus(session.fabric(), request.gpus);
  const int ranks = static_cast<int>(work.rank_gpu.size());
  if (ranks < 2) {
    throw InputError({"command line", 0, 0},
                     fmt::format("{} has {} GPU, a collective needs two", bench.source, ranks),
                     ranks == 0
                         ? "if this is a network dump, say what its hosts are: --server hgx-h100"
                         : "use a larger server, or --nodes 2");
  }
  if (request.root >= work.rank_gpu.size()) {
    throw option_error("root", fmt::format("there is no rank {}", request.root),
                       fmt::format("ranks are 0 to {}", ranks - 1));
  }
  bench.ranks = ranks;
  bench.devices = devices_of(session.fabric(), work);
  bench.engine = engine.name();
  bench.stack = session.stack();
  bench.assumptions = session.cluster().notes;
  const validate::ErrorBands bands = shipped_error_bands();
  const auto nodes = static_cast<int>(session.fabric().server_count());
  const std::vector<Bytes> sizes = report::sweep_sizes(bench);
  ProgressLine progress("bench", sizes.size(), progress_output(streams));
  for (Bytes asked : sizes) {
    progress.update(bench.rows.size(), to_text(asked));
    const auto [size, count] =
        report::size_and_count(bench.kind, asked, ranks, *report::type_size(bench.type));
    work::CollectiveOp op;
    op.kind = bench.kind;
    op.group = work::GroupId(0);
    op.size = size;
    op.root = work::RankId(request.root);
    op.algorithm = request.algorithm;
    op.protocol = request.protocol;
    op.channels = request.channels;
    op.switch_reduction = report::switch_can_reduce(bench.type, bench.redop);
    work.ops = {work::Op{op, Instant(), {}, ""}};
    const result::Result result = run_engine(engine, session.setup(work), nullptr);
    report::BenchRow row;
    row.size = size;
    row.count = count;
    row.time_us = result.completion.to_microseconds();
    row.algbw_gb_per_s = row.time_us > 0 ? size.to_double() / (row.time_us * 1e3) *
                                               work::algbw_factor(bench.kind, ranks)
                                         : 0;
    row.busbw_gb_per_s = row.algbw_gb_per_s * work::busbw_factor(bench.kind, ranks);
    row.algorithm = result.ops[0].algorithm;
    row.protocol = result.ops[0].protocol;
    row.channels = result.ops[0].channels;
    row.bottleneck = result.bottleneck;
    row.error_band = bands.p90(work::to_text(bench.kind), nodes, size);
    bench.rows.push_back(std::move(row));
  }
  return bench;
}

Command bench_command() {
  std::vector<OptionSpec> options = {
      {"cluster", "c", "SOURCE", "a cluster, a server, or a dump", ""},
      {"begin", "b", "SIZE", "smallest size (8, 64K, 1G as in nccl-tests, or 1MiB)", "32M"},
      {"end", "e", "SIZE", "largest size", "32M"},
      {"stepfactor", "f", "N", "multiply the size by this", "2"},
      {"stepbytes", "i", "SIZE", "or add this to it", ""},
      {"datatype", "d", "TYPE", "element type", "float"},
      {"op", "o", "OP", "reduction: sum, prod, min, max, avg", "sum"},
      {"root", "r", "RANK", "root of broadcast, reduce, gather and scatter", "0"},
      {"iters", "n", "N", "iterations (printed; a prediction has one)", "20"},
      {"warmup_iters", "w", "N", "warm-up iterations (printed)", "5"},
      {"gpus", "", "N", "use the first N GPUs only", ""},
      {"algo", "", "NAME", "force the algorithm (weft list algorithms)", ""},
      {"proto", "", "NAME", "force the protocol: ll, ll128, simple", ""},
      {"channels", "", "N", "force the number of channels", ""},
      {"engine", "", "NAME", "analytic, flow or packet", "flow"},
      {"explain", "", "", "every candidate with its predicted time, and why the chosen one won",
       ""},
      {"format", "", "FORM", "table, nccl (byte-compatible), json, csv", "table"},
      {"json", "", "", "same as --format json (schema weft/bench/1)", ""},
      {"measured", "", "LOG", "a log of the same run by the tool itself, put beside it", ""},
      {"report_json", "J", "FILE", "also write nccl-tests' own JSON", ""},
  };
  for (const OptionSpec& option : moe_options()) options.push_back(option);
  for (const OptionSpec& option : point_options()) options.push_back(option);
  for (const OptionSpec& option : session_options()) options.push_back(option);
  return {
      "bench",
      "Predict the nccl-tests table of a collective on a cluster, with what limits it.",
      {"weft bench all_reduce -c demo-8x8-h100-rail -b 8 -e 1G -f 2",
       "weft bench alltoall -c hgx-h100 -b 512M -e 512M --explain",
       "weft bench moe_dispatch -c demo-8x8-h100-rail --tokens 128,4096 --max_nodes 4",
       "weft bench ib_write_bw -c pair-hdr -b 2 -e 8M",
       "weft bench all_reduce -c ndv4-topo.xml --nodes 2 -b 8 -e 8G --format nccl"},
      {{"COLLECTIVE",
        "all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv, gather, "
        "scatter, hypercube, moe_dispatch, moe_combine, or a point-to-point test of weft list "
        "tests"}},
      std::move(options),
      run};
}

}  // namespace weft::app
