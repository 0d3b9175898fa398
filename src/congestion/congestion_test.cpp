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
  sender.packet_bytes = 4178;
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

// The paper's form: from stage F on the target rises by R_AI, and when both stages are beyond F by
// R_HAI times what the lesser is beyond it. Byte and time stages count apart.
TEST(Dcqcn, IncreasesAdditivelyThenByHyperSteps) {
  DcqcnParameters p;
  p.increase_period = Duration::microseconds(10);
  p.increase_bytes = 1000;
  p.fast_steps = 2;
  p.additive = 0.01;
  p.hyper = 0.1;
  const Dcqcn control(p);
  Sender sender = sender_at(100e9);
  control.start(sender);
  control.notify(sender, 0);
  sender.target = sender.rate = 20e9;
  control.before_send(sender, 1, 1000);  // byte stage 1 < F: fast recovery
  EXPECT_DOUBLE_EQ(sender.target, 20e9);
  control.before_send(sender, 2, 1000);  // byte stage 2, time stage 0: additive
  EXPECT_DOUBLE_EQ(sender.target, 21e9);
  EXPECT_DOUBLE_EQ(sender.rate, 20.5e9);
  control.before_send(sender, 3, 1000);               // byte stage 3, time stage 0: additive
  control.before_send(sender, 10 * kMicrosecond, 1);  // time stages 1 and 2: still additive
  control.before_send(sender, 20 * kMicrosecond, 1);
  EXPECT_DOUBLE_EQ(sender.target, 24e9);
  control.before_send(sender, 30 * kMicrosecond, 1);  // both 3: hyper, (3 - 2) x 10 Gb/s
  EXPECT_DOUBLE_EQ(sender.target, 34e9);
}

// The NIC's form, timer alone: F steps of fast recovery, one additive, hyper steps of one size.
TEST(Dcqcn, NicFormTakesOneAdditiveStep) {
  DcqcnParameters p;
  p.increase_period = Duration::microseconds(10);
  p.fast_steps = 1;
  p.additive = 0.01;
  p.hyper = 0.1;
  const Dcqcn control(p);
  Sender sender = sender_at(100e9);
  control.start(sender);
  control.notify(sender, 0);
  sender.target = sender.rate = 20e9;
  const double expected[] = {20e9, 21e9, 31e9, 41e9};
  for (int step = 0; step < 4; ++step) {
    control.before_send(sender, (step + 1) * 10 * kMicrosecond, 4096);
    EXPECT_DOUBLE_EQ(sender.target, expected[step]);
  }
}

// Settings by name give the control that the struct gives; unknown names and values are refused.
TEST(Controls, SettingsByName) {
  const Control& control = *find_control("dcqcn");
  EXPECT_EQ(refuse_settings(control, {{"k", 1.0}}), "dcqcn has no parameter 'k'");
  EXPECT_NE(refuse_settings(control, {{"g", 2.0}}), "");
  const auto own = configured(control, {{"most_cut", 0.9}, {"notification_gap", 50}});
  EXPECT_EQ(own->notification_gap(), Duration::microseconds(50));
  Sender sender = sender_at(100e9);
  own->start(sender);
  own->notify(sender, 0);
  EXPECT_DOUBLE_EQ(sender.rate, 90e9);
}

// A parameter's default is what the control has when nothing is set.
TEST(Controls, DefaultsAreTheirOwn) {
  for (const Control* control : all_controls()) {
    EXPECT_EQ(refuse_settings(*control, {}), "");
    const auto same = configured(*control, {});
    EXPECT_EQ(same->notification_gap(), control->notification_gap());
    Sender a = sender_at(100e9), b = sender_at(100e9);
    control->start(a);
    same->start(b);
    for (std::uint32_t n = 1; n < 50; ++n) {
      const Ack ack{n * kMicrosecond, n, n + 10, 1, n % 3 == 0, {}, {}};
      control->acknowledge(a, ack);
      same->acknowledge(b, ack);
      if (n % 7 == 0) {
        control->notify(a, n * kMicrosecond);
        same->notify(b, n * kMicrosecond);
      }
      control->before_send(a, n * 50 * kMicrosecond, 4178);
      same->before_send(b, n * 50 * kMicrosecond, 4178);
    }
    EXPECT_DOUBLE_EQ(a.rate, b.rate) << control->name();
    EXPECT_EQ(a.window, b.window) << control->name();
  }
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
  control.acknowledge(sender, {0, 0, 100, 0, 0, {}, {}});  // opens the first round
  sender.window_exact = sender.window = 64;
  sender.alpha = 1;
  control.acknowledge(sender, {0, 100, 164, 100, 100, {}, {}});
  EXPECT_EQ(sender.window, 32u);
  control.acknowledge(sender, {0, 164, 200, 64, 0, {}, {}});
  EXPECT_EQ(sender.window, 33u);
  EXPECT_DOUBLE_EQ(sender.alpha, 15.0 / 16);
}

// Two hops, T = 10 us, line 100 Gb/s, W = 125,000 B. In 10 us the second port sends 125,000 B (all
// it can) with 12,500 B waiting both times: u = 12,500 / 125,000 + 1 = 1.1, and over a whole T that
// is U. The window becomes W / (1.1 / 0.95) + W_AI.
TEST(Hpcc, WindowFollowsTheMostLoadedPort) {
  const auto control = configured(*find_control("hpcc"), {{"rtt", 10}, {"additive", 80}});
  Sender sender = sender_at(100e9);
  control->start(sender);
  EXPECT_DOUBLE_EQ(sender.window_exact, 125'000);
  EXPECT_DOUBLE_EQ(sender.rate, 100e9);
  const Hop before[] = {{1, 0, 0, 0, 400e9}, {2, 1000, 5000, 12'500, 100e9}};
  const Hop after[] = {{1, 10 * kMicrosecond, 125'000, 0, 400e9},
                       {2, 10 * kMicrosecond + 1000, 130'000, 20'000, 100e9}};
  control->acknowledge(sender, {0, 1, 30, 1, 0, before, {}});  // the first says nothing yet
  EXPECT_DOUBLE_EQ(sender.window_exact, 125'000);
  control->acknowledge(sender, {0, 2, 31, 1, 0, after, before});
  EXPECT_DOUBLE_EQ(sender.alpha, 1.1);
  const double expected = 125'000 / (1.1 / 0.95) + 80;
  EXPECT_DOUBLE_EQ(sender.window_exact, expected);
  EXPECT_DOUBLE_EQ(sender.rate, expected * 8 / 10e-6);
  EXPECT_EQ(sender.window, 26u);  // 108,035 B are 25.9 packets of 4178 B
}

// Within a round trip every acknowledgement works on the same reference window: the second of two
// equal measurements does not cut again.
TEST(Hpcc, CutsOnceARoundTrip) {
  const auto control = configured(*find_control("hpcc"), {{"rtt", 10}, {"additive", 80}});
  Sender sender = sender_at(100e9);
  control->start(sender);
  const auto hop = [](std::int64_t n) {
    return Hop{1, n * 10 * kMicrosecond, static_cast<std::uint64_t>(n) * 125'000, 12'500, 100e9};
  };
  const Hop a[] = {hop(0)}, b[] = {hop(1)}, c[] = {hop(2)};
  control->acknowledge(sender, {0, 2, 31, 1, 0, b, a});  // a new round: the reference moves
  const double once = sender.window_exact;
  control->acknowledge(sender, {0, 3, 32, 1, 0, c, b});  // the same round
  const double again = sender.window_exact;
  EXPECT_NEAR(again, once / (1.1 / 0.95) + 80, 1e-6);
  control->acknowledge(sender, {0, 4, 33, 1, 0, c, b});  // nothing new: no time has passed
  EXPECT_DOUBLE_EQ(sender.target, once);
}

// Below eta the window grows by W_AI a round trip, and after maxStage rounds by what is free.
TEST(Hpcc, GrowsInStagesAndThenAtOnce) {
  const auto control =
      configured(*find_control("hpcc"), {{"rtt", 10}, {"additive", 100}, {"stages", 2}});
  Sender sender = sender_at(100e9);
  control->start(sender);
  sender.target = sender.window_exact = 50'000;
  sender.alpha = 0.475;
  std::int64_t n = 0;
  const auto round = [&] {  // 47.5 Gb/s, no queue
    const Hop before[] = {{1, n * 10 * kMicrosecond, std::uint64_t(n) * 59'375, 0, 100e9}};
    ++n;
    const Hop after[] = {{1, n * 10 * kMicrosecond, std::uint64_t(n) * 59'375, 0, 100e9}};
    const auto sequence = static_cast<std::uint32_t>(n * 100);
    control->acknowledge(sender, {0, sequence, sequence + 50, 1, 0, after, before});
  };
  round();
  EXPECT_DOUBLE_EQ(sender.window_exact, 50'100);
  round();
  EXPECT_DOUBLE_EQ(sender.window_exact, 50'200);
  round();  // 0.475 / 0.95: twice the window, and W_AI
  EXPECT_NEAR(sender.window_exact, 100'500, 1e-6);
}

// A BECN a packet climbs an entry each up to the limit; when they stop, the timer takes them back:
// 127 entries in 127 x 1.024 us x timer.
TEST(IbCc, IndexClimbsByBecnAndFallsByTimer) {
  const auto control = configured(*find_control("ib_cc"), {{"timer", 65535}});
  Sender sender = sender_at(100e9);
  control->start(sender);
  EXPECT_DOUBLE_EQ(sender.rate, 100e9);
  for (std::uint32_t n = 1; n <= 140; ++n) {
    control->acknowledge(sender, {0, n, n + 1, 1, 1, {}, {}});
    EXPECT_EQ(sender.byte_stage, std::min(n, 127u));
  }
  // The last entry: 127 x 127 x 7 / (95 x 95) / 0.218 = 57.39 packet times of waiting.
  EXPECT_NEAR(sender.rate, 100e9 / 58.39, 1e6);
  const auto brief = configured(*find_control("ib_cc"), {{"timer", 2}});
  brief->start(sender);
  for (std::uint32_t n = 0; n < 127; ++n) brief->notify(sender, 0);
  brief->before_send(sender, 126 * 2'048'000, 4178);
  EXPECT_EQ(sender.byte_stage, 1u);
  brief->before_send(sender, 127 * 2'048'000, 4178);
  EXPECT_EQ(sender.byte_stage, 0u);
  EXPECT_DOUBLE_EQ(sender.rate, 100e9);
}

}  // namespace
}  // namespace weft::congestion
