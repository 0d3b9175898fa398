// Importer row `ibsim_net`: the same records with free names and without GUIDs.
#include "import/ib_network.h"

namespace weft::import {

namespace {

class IbSimNet final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "ibsim_net"; }
  [[nodiscard]] std::string_view summary() const override {
    return "network file of ibsim, the InfiniBand simulator";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    return has_ib_record(source.text);
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& inputs) const override {
    return read_ib(source, inputs);
  }
};

}  // namespace

const Importer& ibsim_net_importer() {
  static const IbSimNet kImporter;
  return kImporter;
}

}  // namespace weft::import
