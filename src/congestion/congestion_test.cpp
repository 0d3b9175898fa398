// Congestion controls, step by step.
#include "congestion/congestion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "congestion/dcqcn.h"

namespace weft::congestion {
namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;

Sender sender_at(double line_rate) {
  Sender sender;
  sender.line_rate = line_rate;
  sender.full_window = 100;
  sender.base_rtt = 8 * kMicrosecond;
  return sender;
}

TEST(Controls, EveryRowHasItsOwnNameAndStartsWithAWindow) {
  std::set<std::string_view> names;
  for (const Control* control : all_controls()) {
    EXPECT_TRUE(names.insert(control->name()).second);
    EXPECT_EQ(find_control(control->name()), control);
    Sender sender = sender_at(400e9);
    control->start(sender);
    EXPECT_GT(sender.window, 0u) << control->name();
  }
  EXPECT_EQ(find_control("reno"), nullptr);
}

// The paper's constants: a cut of 100 Gb/s at alpha 1 halves it, then fast recovery closes half of
// the gap at each of five timers: 75, 87.5, 93.75, 96.875, 98.4375.
TEST(Dcqcn, FirstCutHalvesAndFastRecoveryClosesTheGap) {
  DcqcnParameters p;
  p.alpha_period = p.increase_period = p.cut_period = Duration::microseconds(55);
  p.fast_steps = 5;
  const Dcqcn control(p);
  Sender sender = sender_at(100e9);
  control.start(sender);
  control.notify(sender, 0);
  EXPECT_DOUBLE_EQ(sender.rate, 50e9);
  const double expected[] = {75e9, 87.5e9, 93.75e9, 96.875e9, 98.4375e9};
  for (int step = 0; step < 5; ++step) {
    control.before_send(sender, (step + 1) * 55 * kMicrosecond, 4096);
    EXPECT_DOUBLE_EQ(sender.rate, expected[step]);
  }
}

// Without notifications alpha halves in ln 2 / -ln(1 - g) periods: 177.1 for g = 1/256, 141.6 for
// 5/1024.
TEST(Dcqcn, AlphaHalvesInItsTime) {
  for (const auto& [g, half] : {std::pair{1.0 / 256, 177.1}, std::pair{5.0 / 1024, 141.6}}) {
    DcqcnParameters p;
    p.g = g;
    p.increase_period = Duration::seconds(1);
    const Dcqcn control(p);
    Sender sender = sender_at(100e9);
    control.start(sender);
    control.notify(sender, 0);
    control.before_send(sender, kMicrosecond, 4096);  // the first period had the notification
    EXPECT_DOUBLE_EQ(sender.alpha, 1);
    std::int64_t periods = 0;
    while (sender.alpha > 0.5) control.before_send(sender, (1 + ++periods) * kMicrosecond, 4096);
    EXPECT_EQ(periods, static_cast<std::int64_t>(std::ceil(half)));
  }
}

// After F steps the target rises by R_AI, after that by R_HAI times the steps beyond F; byte and
// time stages count apart, and hyper increase needs both.
TEST(Dcqcn, IncreasesAdditivelyThenByHyperSteps) {
  DcqcnParameters p;
  p.increase_period = Duration::microseconds(10);
  p.increase_bytes = 1000;
  p.fast_steps = 1;
  p.additive = 0.01;
  p.hyper = 0.1;
  const Dcqcn control(p);
  Sender sender = sender_at(100e9);
  control.start(sender);
  control.notify(sender, 0);
  sender.target = sender.rate = 20e9;
  control.before_send(sender, 1, 1000);  // byte stage 1: fast recovery
  EXPECT_DOUBLE_EQ(sender.target, 20e9);
  control.before_send(sender, 2, 1000);  // byte stage 2 > F, time stage 0: additive
  EXPECT_DOUBLE_EQ(sender.target, 21e9);
  EXPECT_DOUBLE_EQ(sender.rate, 20.5e9);
  control.before_send(sender, 10 * kMicrosecond, 1);  // time stage 1: still additive
  EXPECT_DOUBLE_EQ(sender.target, 22e9);
  control.before_send(sender, 20 * kMicrosecond, 1);  // both 2: hyper, (2 - 1) x 10 Gb/s
  EXPECT_DOUBLE_EQ(sender.target, 32e9);
}

TEST(Dcqcn, CutsNoMoreOftenThanItMay) {
  const Dcqcn control{DcqcnParameters{}};
  Sender sender = sender_at(400e9);
  control.start(sender);
  control.notify(sender, 0);
  control.notify(sender, 3 * kMicrosecond);
  EXPECT_DOUBLE_EQ(sender.rate, 200e9);
  control.notify(sender, 4 * kMicrosecond);
  EXPECT_LT(sender.rate, 200e9);
}

// Every packet marked: alpha stays 1 and the window halves each round trip. None marked: one packet
// more each.
TEST(Dctcp, HalvesWhenAllIsMarkedAndGrowsByOnePacket) {
  const Control& control = *find_control("dctcp");
  Sender sender = sender_at(100e9);
  control.start(sender);
  control.acknowledge(sender, {0, 0, 100, 0, 0});  // opens the first round
  sender.window_exact = sender.window = 64;
  sender.alpha = 1;
  control.acknowledge(sender, {0, 100, 164, 100, 100});
  EXPECT_EQ(sender.window, 32u);
  control.acknowledge(sender, {0, 164, 200, 64, 0});
  EXPECT_EQ(sender.window, 33u);
  EXPECT_DOUBLE_EQ(sender.alpha, 15.0 / 16);
}

}  // namespace
}  // namespace weft::congestion
