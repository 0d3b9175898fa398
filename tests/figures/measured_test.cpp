// Large-message figures that people measured, against what the program predicts. Times at 512 MiB
// are from the Apache-2.0 tables of NVIDIA aiconfigurator (nccl-tests, out of place, NCCL 2.27
// and 2.29); the others from public nccl-tests runs on H200, B200 and p6-b200
// (stas00/ml-engineering).
#include <gtest/gtest.h>

#include "predict.h"

namespace weft::figures {
namespace {

using work::CollectiveKind;

struct Measured {
  const char* server;
  CollectiveKind kind;
  double time_us;  // at 512 MiB, 8 GPUs, half precision
};

class At512MiB : public testing::TestWithParam<Measured> {};

TEST_P(At512MiB, WithinEightPercent) {
  const Measured measured = GetParam();
  const Answer answer = ask({measured.server, measured.kind, Bytes::mib(512), {}, {}});
  EXPECT_NEAR(answer.time_us, measured.time_us, 0.08 * measured.time_us)
      << answer.algorithm << " " << answer.protocol << ", error "
      << (answer.time_us / measured.time_us - 1) * 100 << " %";
}

INSTANTIATE_TEST_SUITE_P(Servers, At512MiB,
                         testing::Values(Measured{"dgx-a100", CollectiveKind::all_reduce, 4225.9},
                                         Measured{"dgx-a100", CollectiveKind::all_gather, 2288.0},
                                         Measured{"dgx-a100", CollectiveKind::all_to_all, 2313.5},
                                         Measured{"hgx-h100", CollectiveKind::all_reduce, 2112.0},
                                         Measured{"hgx-h100", CollectiveKind::all_gather, 1398.1},
                                         Measured{"hgx-h100", CollectiveKind::all_to_all, 1480.7}));

struct BusBandwidth {
  const char* source;
  const char* algorithm;
  Bytes size;
  double busbw;
};

class MeasuredBusBandwidth : public testing::TestWithParam<BusBandwidth> {};

TEST_P(MeasuredBusBandwidth, WithinTenPercent) {
  const BusBandwidth measured = GetParam();
  const Answer answer =
      ask({measured.source, CollectiveKind::all_reduce, measured.size, measured.algorithm, {}});
  EXPECT_NEAR(answer.busbw, measured.busbw, 0.10 * measured.busbw)
      << answer.algorithm << " " << answer.protocol;
}

INSTANTIATE_TEST_SUITE_P(Systems, MeasuredBusBandwidth,
                         testing::Values(BusBandwidth{"hgx-h200", "ring", Bytes::gib(16), 367},
                                         BusBandwidth{"hgx-b200", "ring", Bytes::gib(16), 682},
                                         BusBandwidth{"hgx-h200", "nvls", Bytes::gib(16), 480},
                                         BusBandwidth{"b200-4x8-efa", "", Bytes::gib(16), 381.8}));

}  // namespace
}  // namespace weft::figures
