#include "scenario/network_parts.h"

#include <fmt/format.h>

#include "base/text.h"

namespace weft::scenario {

namespace {

// Cables up to this long are copper when the file does not say: passive DAC at 400G reaches 3 m.
constexpr double kCopperReachMetres = 3;

}  // namespace

fabric::DeviceClass ideal_switch() {
  fabric::DeviceClass device;
  device.kind = fabric::DeviceKind::network_switch;
  device.model = "ideal";
  return device;
}

fabric::LinkClass NetworkParts::named_or_plain(fabric::LinkKind kind, BitRate rate) {
  if (const auto name = catalogue_.network_link(kind, rate)) return *catalogue_.link(*name);
  fabric::LinkClass link;
  link.kind = kind;
  link.name = fmt::format("{} {}", fabric::to_text(kind), to_text(rate));
  link.raw_rate = rate;
  link.flow_control = kind == fabric::LinkKind::infiniband ? fabric::FlowControl::credit
                                                           : fabric::FlowControl::lossy;
  return link;
}

fabric::LinkClass NetworkParts::port_of(const fabric::DeviceClass& nic) {
  return named_or_plain(nic.port_kind, nic.port_rate);
}

fabric::LinkClass NetworkParts::link(const import::ClusterSpec::Link& given,
                                     const fabric::LinkClass& fallback) {
  fabric::LinkClass link = fallback;
  if (given.name) {
    if (const auto known = catalogue_.link(given.name->text)) {
      link = *known;
    } else {
      diagnostics_.add(given.name->where, fmt::format("there is no link '{}'", given.name->text),
                       suggest(given.name->text, catalogue_.link_names()));
    }
  }
  if (given.kind || given.rate) {
    link = named_or_plain(given.kind.value_or(link.kind), given.rate.value_or(link.raw_rate));
  }
  if (given.latency) link.latency = *given.latency;
  if (given.length_m) {
    const std::string medium = given.medium                            ? given.medium->text
                               : *given.length_m <= kCopperReachMetres ? "copper"
                                                                       : "fibre";
    if (const auto delay = catalogue_.delay_per_metre(medium)) {
      link.latency += delay->scaled(*given.length_m);
    } else {
      diagnostics_.add(given.medium->where, fmt::format("there is no medium '{}'", medium),
                       suggest(medium, catalogue_.media()));
    }
  }
  return link;
}

fabric::DeviceClass NetworkParts::network_switch(const import::ClusterSpec::Switch& given,
                                                 BitRate rate) {
  fabric::DeviceClass device = ideal_switch();
  if (given.model) {
    const import::CataloguePart* part = catalogue_.part(given.model->text);
    if (part == nullptr || part->device.kind != fabric::DeviceKind::network_switch) {
      diagnostics_.add(
          given.model->where, fmt::format("there is no switch '{}'", given.model->text),
          suggest(given.model->text, catalogue_.names(fabric::DeviceKind::network_switch)));
      return device;
    }
    device = part->device;
    if (part->ports.empty() && !given.radix) {
      diagnostics_.add(given.model->where,
                       fmt::format("how many ports {} has is not published", given.model->text),
                       "add 'radix: PORTS', or state its ports in a catalogue file of your own");
    }
    // Ports are listed fastest first: the last that is fast enough gives the most ports.
    for (const auto& [port_rate, count] : part->ports) {
      if (port_rate >= rate) device.radix = count;
    }
    if (!part->ports.empty() && part->ports.front().first < rate && !given.radix) {
      diagnostics_.add(given.where,
                       fmt::format("{} has no port of {}", given.model->text, to_text(rate)),
                       fmt::format("its fastest is {}; choose another switch or link",
                                   to_text(part->ports.front().first)));
    }
  } else if (!given.radix) {
    device.model = "unnamed";
  }
  if (sharp_at_ && !device.reduces)
    diagnostics_.add(*sharp_at_,
                     fmt::format("sharp is on, but {} does not reduce in the network",
                                 given.model ? given.model->text : "a switch without a model"),
                     "leave sharp out, or name a switch such as quantum2");
  device.reduces = device.reduces && sharp_at_;
  if (given.radix) device.radix = *given.radix;
  if (given.latency) device.forwarding_latency = *given.latency;
  if (given.buffer) device.buffer = *given.buffer;
  return device;
}

}  // namespace weft::scenario
