// DCQCN's reaction point with its parameters, for the control of that name and for tests that
// follow single steps. Source: Y. Zhu et al., "Congestion Control for Large-Scale RDMA
// Deployments", SIGCOMM 2015; timer-only increase and the cut window as in the NIC form that the
// HPCC authors' simulator has. Leaves out: the NIC's own reaction time. Model:
// docs/models/dcqcn.md.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

struct DcqcnParameters {
  double g = 1.0 / 256;                                    // weight of a new sample in alpha
  Duration alpha_period = Duration::microseconds(1);       // without a notification: alpha decays
  Duration notification_gap = Duration::microseconds(4);   // CNPs of a flow, at the receiver
  Duration cut_period = Duration::microseconds(4);         // least time between two cuts
  Duration increase_period = Duration::microseconds(300);  // timer T
  std::int64_t increase_bytes = 0;                         // byte counter B; 0: not used
  std::uint32_t fast_steps = 1;                            // F: threshold of fast recovery
  double additive = 5e6 / 25e9;                            // R_AI, of the line rate
  double hyper = 50e6 / 25e9;                              // R_HAI, of the line rate
  double least_rate = 100e6;                               // bit/s
  double most_cut = 0.5;                                   // a cut leaves at least this much
  bool clamp_target = false;  // a cut always lowers the target too (the paper has it so)
};

class Dcqcn final : public Control {
 public:
  explicit Dcqcn(const DcqcnParameters& parameters) : p_(parameters) {}
  [[nodiscard]] std::string_view name() const override { return "dcqcn"; }
  [[nodiscard]] std::string_view summary() const override {
    return "rate control of RoCE NICs: cuts on CNPs, recovers by timer and byte counter";
  }
  [[nodiscard]] std::span<const Parameter> parameters() const override;
  [[nodiscard]] std::unique_ptr<Control> with(std::span<const double> values) const override;
  [[nodiscard]] std::optional<Duration> notification_gap() const override {
    return p_.notification_gap;
  }
  void start(Sender& sender) const override;
  void notify(Sender& sender, std::int64_t now) const override;
  void before_send(Sender& sender, std::int64_t now, std::uint32_t bytes) const override;

 private:
  void advance(Sender& sender, std::int64_t now) const;
  void look_at_alpha(Sender& sender) const;
  void cut(Sender& sender, std::int64_t now) const;
  void increase(Sender& sender) const;
  [[nodiscard]] double step(const Sender& sender) const;

  DcqcnParameters p_;
};

}  // namespace weft::congestion
