// What every generator does with its table of parameters: read a value, and say in one sentence
// each what is wrong with the values given. Also the checks of Inputs that all network topologies
// share.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/topology.h"

namespace weft::topology {

// "Not given": the generator derives the value itself.
inline constexpr double kDerived = std::numeric_limits<double>::quiet_NaN();

// The value given, else the default of the table (NaN: derived). REQUIRES name in the table.
double value(const Inputs& inputs, std::span<const Parameter> table, std::string_view name);
// The same as a whole number; nullopt when derived.
std::optional<std::int64_t> whole_value(const Inputs& inputs, std::span<const Parameter> table,
                                        std::string_view name);

// Unknown names, values outside the range, fractions where whole numbers are needed; and of the
// rest of Inputs: no servers, no NIC port, a switch class that is no switch, a link without a rate.
std::vector<std::string> check_inputs(const Inputs& inputs, std::span<const Parameter> table);
// The part of check_inputs that looks at parameters only.
std::vector<std::string> check_parameters(const Inputs& inputs, std::span<const Parameter> table);

// The class of switches in `tier` (1 = leaf). The parameter "radix", where given, replaces the port
// count of switch_class (another breakout of the same box).
fabric::DeviceClass tier_class(const Inputs& inputs, int tier);

// Rows that several tables share.
Parameter radix_parameter();
Parameter oversubscription_parameter(std::string name, std::string_view of);
Parameter leaf_hosts_parameter();

}  // namespace weft::topology
