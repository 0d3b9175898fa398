#include "routing/routes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "routing/hand_drawn_test.h"

namespace weft::routing {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkId;
using test::Drawing;

std::vector<LinkId> path_of(const Routes& routes, DeviceId from, DeviceId to,
                            std::uint64_t entropy) {
  std::vector<LinkId> links;
  EXPECT_TRUE(routes.path(from, to, entropy, links));
  return links;
}

TEST(Routes, OneSwitchIsTwoLinksAway) {
  Drawing drawing;
  const auto s = drawing.add_switches(1);
  const DeviceId a = drawing.add_nic({s[0]}), b = drawing.add_nic({s[0]});
  const Fabric fabric = drawing.done();
  const Routes routes(fabric, {});
  EXPECT_EQ(routes.distance(a, b), 2);
  EXPECT_EQ(routes.distance(s[0], b), 1);
  EXPECT_EQ(routes.distance(a, a), 0);
  const auto links = path_of(routes, a, b, 7);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(fabric.from(links[0]), a);
  EXPECT_EQ(fabric.to(links[1]), b);
  EXPECT_TRUE(path_of(routes, a, a, 7).empty());
}

// Two leaves, three spines, two cables each: 6 next links at the leaf; 2 at a spine.
TEST(Routes, ParallelCablesAreNextHopsOfTheirOwn) {
  Drawing drawing;
  const auto leaf = drawing.add_switches(2), spine = drawing.add_switches(3);
  const DeviceId a = drawing.add_nic({leaf[0]}), b = drawing.add_nic({leaf[1]});
  for (const DeviceId l : leaf) {
    for (const DeviceId s : spine) {
      drawing.cable(l, s);
      drawing.cable(l, s);
    }
  }
  const Fabric fabric = drawing.done();
  const Routes routes(fabric, {});
  const auto up = routes.next_hops(leaf[0], b);
  EXPECT_EQ(up.size(), 6u);
  EXPECT_TRUE(std::is_sorted(up.begin(), up.end()));  // port order
  EXPECT_EQ(routes.next_hops(spine[1], b).size(), 2u);
  EXPECT_EQ(routes.next_hops(leaf[1], b).size(), 1u);
  EXPECT_EQ(routes.next_hops(a, b).size(), 1u);
  EXPECT_EQ(routes.distance(a, b), 4);
  std::set<LinkId> used;
  for (std::uint64_t entropy = 0; entropy < 200; ++entropy) {
    used.insert(path_of(routes, a, b, entropy)[1]);
  }
  EXPECT_EQ(used.size(), 6u);
}

// A NIC on two ToRs uses the one that is nearer; where both are as near, flows use both.
TEST(Routes, DualHomedNicUsesItsNearerPorts) {
  Drawing drawing;
  const auto tor = drawing.add_switches(3);
  const auto top = drawing.add_switches(1);
  for (const DeviceId t : tor) drawing.cable(t, top[0]);
  const DeviceId dual = drawing.add_nic({tor[0], tor[1]});
  const DeviceId near = drawing.add_nic({tor[1]}), far = drawing.add_nic({tor[2]});
  const Fabric fabric = drawing.done();
  const Routes routes(fabric, {});
  EXPECT_EQ(routes.distance(dual, near), 2);
  EXPECT_EQ(routes.distance(near, dual), 2);
  EXPECT_EQ(routes.distance(dual, far), 4);
  ASSERT_EQ(routes.next_hops(dual, near).size(), 1u);
  EXPECT_EQ(fabric.to(routes.next_hops(dual, near)[0]), tor[1]);
  EXPECT_EQ(routes.next_hops(dual, far).size(), 2u);
  EXPECT_EQ(routes.next_hops(top[0], dual).size(), 2u);  // down by either ToR
}

TEST(Routes, NoWayIsSaid) {
  Drawing drawing;
  const auto s = drawing.add_switches(2);  // not cabled to one another
  const DeviceId a = drawing.add_nic({s[0]}), b = drawing.add_nic({s[1]});
  const DeviceId bare = drawing.add_nic({});
  const Fabric fabric = drawing.done();
  const Routes routes(fabric, {});
  std::vector<LinkId> links;
  EXPECT_FALSE(routes.path(a, b, 1, links));
  EXPECT_FALSE(routes.path(a, bare, 1, links));
  EXPECT_FALSE(routes.path(bare, a, 1, links));
  EXPECT_TRUE(links.empty());
  EXPECT_EQ(routes.distance(a, b), -1);
  EXPECT_EQ(routes.distance(s[0], bare), -1);
  EXPECT_TRUE(routes.next_hops(s[0], b).empty());
}

TEST(Routes, NicsCabledBackToBackNeedNoSwitch) {
  Drawing drawing;
  const DeviceId a = drawing.add_nic({}), b = drawing.add_nic({});
  drawing.cable(a, b);
  const Fabric fabric = drawing.done();
  const Routes routes(fabric, {});
  EXPECT_EQ(routes.distance(a, b), 1);
  EXPECT_EQ(path_of(routes, b, a, 3).size(), 1u);
}

// Distances between switches by Floyd and Warshall: nothing in common with the table's search.
std::map<std::pair<DeviceId, DeviceId>, int> all_distances(const Fabric& fabric) {
  constexpr int kFar = 1'000'000;
  const auto switches = fabric.of_kind(DeviceKind::network_switch);
  std::map<std::pair<DeviceId, DeviceId>, int> d;
  for (const DeviceId a : switches) {
    for (const DeviceId b : switches) d[{a, b}] = a == b ? 0 : kFar;
    for (const LinkId link : fabric.out_links(a)) {
      if (fabric.kind(fabric.to(link)) == DeviceKind::network_switch) d[{a, fabric.to(link)}] = 1;
    }
  }
  for (const DeviceId k : switches) {
    for (const DeviceId a : switches) {
      for (const DeviceId b : switches) d[{a, b}] = std::min(d[{a, b}], d[{a, k}] + d[{k, b}]);
    }
  }
  return d;
}

struct RandomNetwork {
  Fabric fabric;
  std::vector<DeviceId> switches, nics;
};

RandomNetwork random_network() {
  Drawing drawing;
  RandomNetwork network;
  const int count = *rc::gen::inRange(1, 45);  // more than 32 leaf groups at times
  network.switches = drawing.add_switches(count);
  const auto any = [&] { return network.switches[*rc::gen::inRange<std::size_t>(0, count)]; };
  for (int i = *rc::gen::inRange(0, 3 * count); i > 0; --i) {
    const DeviceId a = any(), b = any();
    if (a != b) drawing.cable(a, b);
  }
  for (int i = *rc::gen::inRange(1, 50); i > 0; --i) {
    network.nics.push_back(*rc::gen::inRange(0, 3) == 0 ? drawing.add_nic({any(), any()})
                                                        : drawing.add_nic({any()}));
  }
  network.fabric = drawing.done();
  return network;
}

// At every switch the next hops towards a NIC are exactly the links that lead one step nearer.
void check_network(const RandomNetwork& network) {
  constexpr int kFar = 1'000'000;
  const Fabric& fabric = network.fabric;
  auto between = all_distances(fabric);
  const Routes routes(fabric, {});
  for (const DeviceId to : network.nics) {
    const auto links_to = [&](DeviceId s) {
      int best = kFar;
      for (const LinkId link : fabric.out_links(to)) {
        best = std::min(best, between[{s, fabric.to(link)}] + 1);
      }
      return best;
    };
    for (const DeviceId s : network.switches) {
      const int distance = links_to(s);
      RC_ASSERT(routes.distance(s, to) == (distance >= kFar ? -1 : distance));
      std::vector<LinkId> nearer;
      for (const LinkId link : fabric.out_links(s)) {
        const DeviceId next = fabric.to(link);
        const bool arrives = next == to;
        const bool forward = fabric.kind(next) == DeviceKind::network_switch && distance < kFar &&
                             links_to(next) == distance - 1;
        if (arrives || forward) nearer.push_back(link);
      }
      RC_ASSERT(routes.next_hops(s, to) == nearer);
    }
  }
}

TEST(Routes, NextHopsOfRandomNetworksAreTheLinksThatLeadNearer) {
  EXPECT_TRUE(rc::check("next hops", [] { check_network(random_network()); }));
}

// Shares of sprayed bytes: what leaves a device is what came in, and all of it arrives.
void check_spread(const RandomNetwork& network) {
  const Fabric& fabric = network.fabric;
  const Routes routes(fabric, {.policy = Policy::spray});
  const DeviceId from = network.nics.front(), to = network.nics.back();
  std::vector<LinkFraction> links;
  RC_ASSERT(routes.spread(from, to, 1, links) == (routes.distance(from, to) >= 0));
  std::map<DeviceId, double> balance;
  for (const LinkFraction& link : links) {
    balance[fabric.from(link.link)] -= link.fraction;
    balance[fabric.to(link.link)] += link.fraction;
  }
  for (const auto& [device, sum] : balance) {
    const double expected = device == from ? -1 : device == to ? 1 : 0;
    RC_ASSERT(std::abs(sum - expected) < 1e-9);
  }
}

TEST(Routes, SprayedBytesAllArrive) {
  EXPECT_TRUE(rc::check("spread", [] { check_spread(random_network()); }));
}

// Two leaves with `nics` NICs each and eight spines between.
struct TwoLeaves {
  explicit TwoLeaves(int count) {
    Drawing drawing;
    const auto leaf = drawing.add_switches(2), spine = drawing.add_switches(8);
    for (const DeviceId l : leaf) {
      for (const DeviceId s : spine) drawing.cable(l, s);
    }
    for (int i = 0; i < count; ++i) {
      left.push_back(drawing.add_nic({leaf[0]}));
      right.push_back(drawing.add_nic({leaf[1]}));
    }
    fabric = drawing.done();
  }
  Fabric fabric;
  std::vector<DeviceId> left, right;
};

// 8 queue pairs thrown on 8 links. Balls in bins, exactly: E[most] = 2.5972, standard deviation
// 0.68; E[used] = 8 (1 - (7/8)^8) = 5.2511, standard deviation 0.89. Over 14,400 pairs of NICs the
// means deviate by 0.006 and 0.007; bounds at five times that.
TEST(Ecmp, EightFlowsOnEightLinksFallLikeBallsInBins) {
  const TwoLeaves network(120);
  const Routes routes(network.fabric, {});
  double most_sum = 0, used_sum = 0;
  std::vector<LinkId> links;
  for (const DeviceId from : network.left) {
    for (const DeviceId to : network.right) {
      std::map<LinkId, int> load;
      for (std::uint32_t queue_pair = 0; queue_pair < 8; ++queue_pair) {
        links.clear();
        routes.path(from, to, entropy_of(from, to, queue_pair), links);
        ++load[links[1]];
      }
      int most = 0;
      for (const auto& [link, flows] : load) most = std::max(most, flows);
      most_sum += most;
      used_sum += static_cast<double>(load.size());
    }
  }
  const double pairs = 120.0 * 120.0;
  EXPECT_NEAR(most_sum / pairs, 2.5972, 0.03);
  EXPECT_NEAR(used_sum / pairs, 5.2511, 0.037);
}

// Every link gets its share of 40 x 40 x 4 = 6,400 flows, 800 each: chi-squared with 7 degrees of
// freedom stays below 35 with probability 1 - 1e-5. Over several seeds.
TEST(Ecmp, LinksShareManyFlowsEvenly) {
  const TwoLeaves network(40);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Routes routes(network.fabric, {.seed = seed});
    std::map<LinkId, int> load;
    std::vector<LinkId> links;
    int flows = 0;
    for (const DeviceId from : network.left) {
      for (const DeviceId to : network.right) {
        for (std::uint32_t queue_pair = 0; queue_pair < 4; ++queue_pair, ++flows) {
          links.clear();
          routes.path(from, to, entropy_of(from, to, queue_pair), links);
          ++load[links[1]];
        }
      }
    }
    const double share = flows / 8.0;
    double chi_squared = 0;
    for (const auto& [link, count] : load) chi_squared += (count - share) * (count - share) / share;
    EXPECT_EQ(load.size(), 8u);
    EXPECT_LT(chi_squared, 35) << "seed " << seed;
  }
}

// One leaf with n1 links up, n1 middle switches with n2 links up each, n2 tops over the other leaf.
// Returns how many of its n2 links the middle switches use, the most of any.
std::size_t used_uplinks(std::size_t n1, std::size_t n2, RouteOptions options) {
  Drawing drawing;
  const auto leaf = drawing.add_switches(2);
  const auto middle = drawing.add_switches(static_cast<int>(n1));
  const auto top = drawing.add_switches(static_cast<int>(n2));
  for (const DeviceId m : middle) {
    drawing.cable(leaf[0], m);
    for (const DeviceId t : top) drawing.cable(m, t);
  }
  for (const DeviceId t : top) drawing.cable(t, leaf[1]);
  const DeviceId from = drawing.add_nic({leaf[0]}), to = drawing.add_nic({leaf[1]});
  const Fabric fabric = drawing.done();
  const Routes routes(fabric, options);
  std::map<DeviceId, std::set<LinkId>> used;
  std::vector<LinkId> links;
  for (std::uint32_t queue_pair = 0; queue_pair < 4'000; ++queue_pair) {
    links.clear();
    routes.path(from, to, entropy_of(from, to, queue_pair), links);
    used[fabric.from(links[2])].insert(links[2]);
  }
  EXPECT_EQ(used.size(), n1);
  std::size_t most = 0;
  for (const auto& [m, ups] : used) most = std::max(most, ups.size());
  return most;
}

// With one seed a middle switch sees only flows whose hash leaves one remainder by n1, so it can
// use n2 / gcd(n1, n2) of its links: 1 of 4 below 4, 3 of 6 below 4, all where n1 and n2 share
// nothing.
TEST(Ecmp, OneSeedEverywherePolarises) {
  for (const auto& [n1, n2] :
       {std::pair<std::size_t, std::size_t>{4, 4}, {8, 8}, {4, 6}, {6, 4}, {3, 4}, {2, 8}}) {
    EXPECT_EQ(used_uplinks(n1, n2, {.same_seed_everywhere = true}), n2 / std::gcd(n1, n2))
        << n1 << " x " << n2;
    EXPECT_EQ(used_uplinks(n1, n2, {}), n2) << n1 << " x " << n2;
  }
}

TEST(Entropy, SourcePortsAreRoceV2sAndDifferByQueuePair) {
  const DeviceId a(std::size_t{10}), b(std::size_t{20});
  std::set<std::uint64_t> entropies;
  for (std::uint32_t queue_pair = 0; queue_pair < 64; ++queue_pair) {
    EXPECT_GE(udp_source_port(a, b, queue_pair), 49'152);
    entropies.insert(entropy_of(a, b, queue_pair));
  }
  // 64 ports out of 16,384: 64 x 63 / 2 / 16384 = 0.12 expected collisions.
  EXPECT_GE(entropies.size(), 62u);
  EXPECT_NE(entropy_of(a, b, 0), entropy_of(b, a, 0));  // both directions take ways of their own
  EXPECT_EQ(udp_source_port(a, b, 3), udp_source_port(b, a, 3));  // the product does not care
}

}  // namespace
}  // namespace weft::routing
