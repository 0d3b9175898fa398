#include "engine/packet/network.h"

#include <algorithm>
#include <cmath>

namespace weft::engine::packet {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkId;
using fabric::ServerId;

Network::Network(const fabric::Fabric& fabric) : fabric_(&fabric) {
  lone_server_.resize(fabric.server_count());
  for (std::size_t s = 0; s < fabric.server_count(); ++s) {
    lone_server_[s] = fabric.of_kind(DeviceKind::gpu, ServerId(s)).size() == 1 &&
                      fabric.of_kind(DeviceKind::nic, ServerId(s)).size() <= 1;
  }
}

// Nothing else can join or leave there: the device has two neighbours, or lies between the only GPU
// and the only NIC of its server.
bool Network::passes_through(DeviceId device) const {
  const ServerId server = fabric_->info(device).server;
  if (!server.valid()) return false;
  const auto links = fabric_->out_links(device);
  if (lone_server_[server.index()]) {
    const auto ports = std::count_if(links.begin(), links.end(), [this](LinkId link) {
      return fabric::is_network(fabric_->link_class(link).kind);
    });
    return ports <= 1;
  }
  return links.size() == 2;
}

std::uint32_t Network::link_of(std::span<const Segment> chain) {
  const std::pair key{chain.front().link, chain.back().link};
  const auto [at, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(links_.size()));
  double slowest = 0;
  for (const Segment& segment : chain) {
    const double bytes_per_second =
        fabric_->link_class(segment.link).raw_rate.bytes_per_second() / segment.spent_per_byte;
    slowest = std::max(slowest, 1e12 / bytes_per_second);
  }
  const auto fixed = static_cast<std::uint64_t>(std::llround(slowest * (1 << kRateBits)));
  if (!is_new) {
    std::uint64_t& rate = links_[at->second].ps_per_byte_fixed;
    rate = std::max(rate, fixed);
    return at->second;
  }
  Link& link = links_.emplace_back();
  link.ps_per_byte_fixed = fixed;
  for (const Segment& segment : chain) {
    link.latency += segment.latency;
    part_pool_.push_back(segment.link);
  }
  part_begin_.push_back(static_cast<std::uint32_t>(part_pool_.size()));
  return at->second;
}

std::vector<std::uint32_t> Network::links_of(std::span<const Segment> segments) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < segments.size();) {
    std::size_t end = i + 1;
    while (end < segments.size() &&
           fabric_->to(segments[end - 1].link) == fabric_->from(segments[end].link) &&
           passes_through(fabric_->from(segments[end].link))) {
      ++end;
    }
    out.push_back(link_of(segments.subspan(i, end - i)));
    i = end;
  }
  return out;
}

std::uint32_t Network::add_path(std::span<const Segment> segments) {
  const auto begin = static_cast<std::uint32_t>(path_pool_.size());
  const std::vector<std::uint32_t> links = links_of(segments);
  path_pool_.insert(path_pool_.end(), links.begin(), links.end());
  path_pool_.push_back(kNone);
  return begin;
}

std::uint32_t Network::add_tree(std::span<const std::vector<Segment>> ways) {
  std::vector<std::vector<std::uint32_t>> links;
  for (const std::vector<Segment>& way : ways) links.push_back(links_of(way));
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  if (links.front().front() != links.back().front()) return kNone;
  return grow(links, 0);
}

// Sorted ways that agree before `depth`: what they share from there on, then a choice.
std::uint32_t Network::grow(Ways ways, std::size_t depth) {
  std::vector<std::uint32_t> run;
  const std::vector<std::uint32_t>& first = ways.front();
  const std::vector<std::uint32_t>& last = ways.back();
  while (depth < first.size() && depth < last.size() && first[depth] == last[depth])
    run.push_back(first[depth++]);
  if (ways.size() > 1) {
    std::vector<std::uint32_t> branches;
    for (std::size_t begin = 0; begin < ways.size();) {
      std::size_t end = begin + 1;
      while (end < ways.size() && ways[end][depth] == ways[begin][depth]) ++end;
      branches.push_back(grow(ways.subspan(begin, end - begin), depth));
      begin = end;
    }
    run.push_back(kFirstChoice + static_cast<std::uint32_t>(choices_.size()));
    choices_.push_back(std::move(branches));
  } else {
    run.push_back(kNone);
  }
  const auto begin = static_cast<std::uint32_t>(path_pool_.size());
  path_pool_.insert(path_pool_.end(), run.begin(), run.end());
  return begin;
}

}  // namespace weft::engine::packet
