// PXN all-to-all: a message for a GPU of another node goes by NVLink to the local GPU on the
// destination's rail, and from there along the rail; one message a node and rail instead of one a
// GPU. What NCCL's sends do between nodes when every GPU has a NIC and NVLink joins all GPUs of a
// node. Model: docs/models/pxn.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

class Pxn final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pxn"; }
  [[nodiscard]] std::string_view summary() const override {
    return "by NVLink to the GPU on the destination's rail, then along the rail";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind != work::CollectiveKind::all_to_all) return "pxn does all_to_all only";
    if (plan.nodes < 2) return "needs two nodes or more";
    if (!plan.rail_relay)
      return "needs NVLink between all GPUs of a node and a NIC of its own for each";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override {
    rail_exchange_steps(request, plan, emit);
  }
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override {
    Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
    out.cap.reset();
    EdgeList edges(plan, out);
    rail_exchange_edges(request, plan, edges);
    return out;
  }
};

}  // namespace

const Algorithm& pxn_algorithm();
const Algorithm& pxn_algorithm() {
  static const Pxn kPxn;
  return kPxn;
}

}  // namespace weft::collective
