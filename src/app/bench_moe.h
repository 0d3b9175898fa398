// `weft bench moe_dispatch` and `moe_combine`: the exchange of a mixture-of-experts layer.
#pragma once

#include "app/bench.h"
#include "app/common.h"

namespace weft::app {

// --tokens, --hidden, --experts, --topk, --max_nodes, --moe_type, --skew, --moe_routing.
std::vector<OptionSpec> moe_options();
int run_moe_bench(work::CollectiveKind kind, const Arguments& arguments, const Streams& streams);

}  // namespace weft::app
