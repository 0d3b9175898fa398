// The constants against what was measured: nccl-tests times (out of place, half precision) of
// NVIDIA's aiconfigurator tables (Apache-2.0, ai-dynamo/aiconfigurator 095f58a; NCCL 2.27 on A100,
// 2.29 on the others) and published bus bandwidths. Predicted as engines do on an uncontended
// fabric: latency + heaviest link / NCCL's rate, not above the cap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "collective/test_fabrics.h"
#include "collective/tuner.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;
using namespace test_fabrics;

const Constants& constants() {
  static const Constants kConstants =
      parse_constants(read_file(WEFT_SOURCE_DIR "/data/constants/collective.yaml"),
                      "data/constants/collective.yaml");
  return kConstants;
}

// Payload rate over line rate of RoCEv2 with an MTU of 4096: 82 bytes of headers and gaps.
constexpr double kFraming = 4096.0 / (4096 + 82);

struct Prediction {
  double microseconds = 0;
  std::string algorithm;
};

double heaviest_link_us(const Fluid& fluid, const ChannelPlan& plan, double gpu_rate,
                        double nic_rate) {
  std::map<std::uint32_t, double> out, in, nic_out, nic_in;
  for (const Edge& edge : fluid.edges) {
    if (edge.from_nic.valid()) {
      nic_out[edge.from_nic.value] += edge.bytes;
      nic_in[edge.to_nic.value] += edge.bytes;
      continue;
    }
    if (edge.from != kSwitchPlane) out[edge.from] += edge.bytes;
    if (edge.to != kSwitchPlane) in[edge.to] += edge.bytes;
  }
  double worst = 0;
  for (const auto* side : {&out, &in})
    for (const auto& [gpu, bytes] : *side)
      worst = std::max(worst, bytes * fluid.wire_factor / (gpu_rate * 1e3));
  for (const auto* side : {&nic_out, &nic_in})
    for (const auto& [nic, bytes] : *side)
      worst = std::max(worst, bytes * fluid.network_wire_factor / (nic_rate * kFraming * 1e3));
  EXPECT_GT(plan.channels.size(), 0u);
  return worst;
}

struct Case {
  ServerSpec spec;
  int nodes = 1, local = 8;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm;
};

Prediction predict(const Case& what, Bytes size) {
  const Fabric fabric = what.nodes == 1 ? server(what.spec) : cluster(what.spec, what.nodes);
  const ChannelPlan plan = plan_channels(fabric, some_gpus(fabric, what.local));
  std::string reason;
  const auto choice = choose({what.kind, size, &plan},
                             {.algorithm = what.algorithm, .protocol = {}, .channels = 0}, reason);
  EXPECT_TRUE(choice) << reason;
  const Request request{.kind = what.kind, .size = size, .root = 0, .protocol = choice->protocol};
  const Fluid fluid = find_algorithm(choice->algorithm)->fluid(request, plan, constants());
  const double gpu_rate =
      what.spec.nvswitch_links > 0
          ? nccl_link_gb_per_s(
                nvlink(LinkKind::nvlink, what.spec.nvlink_generation, what.spec.nvswitch_links),
                what.spec.compute_capability)
          : 7 * 48.0;  // MI300X: seven xGMI links, all equally used
  double us = heaviest_link_us(fluid, plan, gpu_rate, what.spec.nic_gbps / 8);
  if (fluid.cap) us = std::max(us, size.to_double() / (fluid.cap->gb_per_s() * 1e3));
  return {us + fluid.latency.to_microseconds(),
          fmt::format("{} {}", choice->algorithm, to_text(choice->protocol))};
}

double bus_bandwidth(const Case& what, Bytes size) {
  const double n = what.nodes * what.local;
  return size.to_double() / (predict(what, size).microseconds * 1e3) *
         work::busbw_factor(what.kind, static_cast<int>(n));
}

struct Measured {
  std::string_view system;
  Case what;
  double us_512, us_4k, us_64k, us_1m, us_512m;
};

Case on(const ServerSpec& spec, int local, CollectiveKind kind) {
  return {spec, 1, local, kind, {}};
}

std::vector<Measured> measured() {
  constexpr auto kReduce = CollectiveKind::all_reduce, kGather = CollectiveKind::all_gather,
                 kScatter = CollectiveKind::reduce_scatter, kExchange = CollectiveKind::all_to_all;
  return {
      {"A100", on(a100(), 8, kReduce), 22.6, 21.4, 28.1, 38.9, 4225.9},
      {"A100", on(a100(), 8, kGather), 15.6, 14.7, 21.1, 26.8, 2288.0},
      {"A100", on(a100(), 8, kScatter), 15.6, 14.7, 18.0, 23.4, 2207.1},
      {"A100", on(a100(), 8, kExchange), 15.8, 15.6, 14.2, 25.8, 2313.5},
      {"A100", on(a100(), 4, kReduce), 14.5, 14.3, 17.8, 29.8, 3716.3},
      {"H100", on(h100(), 8, kReduce), 15.6, 16.0, 18.7, 25.4, 2111.1},
      {"H100", on(h100(), 8, kGather), 10.1, 10.6, 13.1, 17.1, 1401.5},
      {"H100", on(h100(), 8, kScatter), 10.2, 10.6, 11.7, 14.6, 1399.4},
      {"H100", on(h100(), 8, kExchange), 7.4, 7.5, 8.7, 15.6, 1490.4},
      {"H100", on(h100(), 4, kReduce), 9.5, 9.8, 11.3, 18.1, 2299.7},
      {"B200", on(b200(), 8, kReduce), 25.1, 26.0, 29.0, 30.1, 1334.6},
      {"B200", on(b200(), 8, kGather), 16.1, 18.6, 19.5, 18.7, 761.4},
      {"B200", on(b200(), 8, kScatter), 16.1, 16.4, 19.9, 20.4, 766.5},
      {"B200", on(b200(), 8, kExchange), 10.7, 13.3, 13.4, 18.8, 834.2},
      {"B200", on(b200(), 4, kReduce), 15.1, 15.5, 16.8, 19.0, 1270.8},
      {"GB200", on(b200(), 4, kReduce), 15.6, 16.1, 17.2, 19.7, 1282.2},
      {"GB200", on(b200(), 4, kGather), 11.7, 12.0, 13.3, 15.1, 714.5},
      {"GB200", on(b200(), 4, kScatter), 11.8, 11.9, 13.0, 14.6, 733.3},
      {"GB200", on(b200(), 4, kExchange), 10.7, 10.8, 13.3, 17.9, 825.4},
  };
}

std::string row_text(const Measured& row, const Prediction& p, double measured_us) {
  return fmt::format("{} x {} {}: {:.1f} us by {}, measured {:.1f} ({:+.1f} %)", row.what.local,
                     row.system, work::to_text(row.what.kind), p.microseconds, p.algorithm,
                     measured_us, (p.microseconds / measured_us - 1) * 100);
}

TEST(Calibration, LargeMessagesWithinEightPercent) {
  for (const Measured& row : measured()) {
    const Prediction p = predict(row.what, Bytes::mib(512));
    EXPECT_NEAR(p.microseconds / row.us_512m, 1, 0.08) << row_text(row, p, row.us_512m);
  }
}

TEST(Calibration, SmallMessages) {
  for (const Measured& row : measured()) {
    const std::array<std::pair<Bytes, double>, 4> points{{{Bytes(512), row.us_512},
                                                          {Bytes::kib(4), row.us_4k},
                                                          {Bytes::kib(64), row.us_64k},
                                                          {Bytes::mib(1), row.us_1m}}};
    for (const auto& [size, us] : points) {
      const Prediction p = predict(row.what, size);
      EXPECT_NEAR(p.microseconds / us, 1, 0.30) << to_text(size) << " " << row_text(row, p, us);
    }
  }
}

// Published bus bandwidths, GB/s.
TEST(Calibration, PublishedBusBandwidths) {
  struct Row {
    std::string_view what;
    Case run;
    Bytes size;
    double busbw;
  };
  Case h200_ring = on(h100(), 8, CollectiveKind::all_reduce);
  h200_ring.algorithm = "ring";
  Case b200_ring = on(b200(), 8, CollectiveKind::all_reduce);
  b200_ring.algorithm = "ring";
  const Case b200_efa{[] {
                        ServerSpec spec = b200();
                        spec.nic_vendor = Vendor::aws;
                        return spec;
                      }(),
                      4,
                      8,
                      CollectiveKind::all_reduce,
                      {}};
  const std::vector<Row> rows{
      {"H200 ring", h200_ring, Bytes::gib(16), 367},
      {"B200 ring", b200_ring, Bytes::gib(16), 682},
      {"H200 NVLS", on(h100(), 8, CollectiveKind::all_reduce), Bytes::gib(16), 480},
      {"B200 NVLS", on(b200(), 8, CollectiveKind::all_reduce), Bytes::gib(16), 846},
      {"H200 all_gather", on(h100(), 8, CollectiveKind::all_gather), Bytes::gib(16), 361},
      {"4 x 8 B200, EFA", b200_efa, Bytes::gib(16), 381.8},
      {"2 x 8 A100, RoCE 8 x 200G",
       {a100(), 2, 8, CollectiveKind::all_reduce, {}},
       Bytes::gib(8),
       189.6},
      {"2 x 8 H100, NDR", {h100(), 2, 8, CollectiveKind::all_reduce, {}}, Bytes::gib(16), 469.1},
      {"MI300X ring", {mi300x(), 1, 8, CollectiveKind::all_reduce, {}}, Bytes::gib(4), 312.9},
  };
  for (const Row& row : rows) {
    const double busbw = bus_bandwidth(row.run, row.size);
    EXPECT_NEAR(busbw / row.busbw, 1, 0.10) << row.what << ": " << busbw << " GB/s";
  }
}

// Two nodes across the network: all_reduce times of nccl-tests, us. p4de: four EFA whose plugin
// declares 75 us; 2 x 8 H100: eight NDR (published by users of each).
TEST(Calibration, TwoNodesOverTheNetwork) {
  struct Row {
    std::string_view what;
    ServerSpec spec;
    Bytes size;
    double us;
  };
  const std::vector<Row> rows{
      {"p4de", p4d(), Bytes(8), 164.3},        {"p4de", p4d(), Bytes::kib(32), 224.6},
      {"p4de", p4d(), Bytes::mib(2), 432.6},   {"p4de", p4d(), Bytes::mib(128), 3912.9},
      {"p4de", p4d(), Bytes::gib(2), 51406},   {"H100", h100(), Bytes(8), 24.7},
      {"H100", h100(), Bytes::kib(32), 33.5},  {"H100", h100(), Bytes::mib(2), 76.6},
      {"H100", h100(), Bytes::mib(128), 749.2}};
  for (const Row& row : rows) {
    const Prediction p = predict({row.spec, 2, 8, CollectiveKind::all_reduce, {}}, row.size);
    EXPECT_NEAR(p.microseconds / row.us, 1, 0.30)
        << row.what << " " << to_text(row.size) << ": " << p.microseconds << " us by "
        << p.algorithm << ", measured " << row.us;
  }
}

}  // namespace
}  // namespace weft::collective
