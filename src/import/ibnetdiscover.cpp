// Importer row `ibnetdiscover`: a fabric as the subnet manager's tools see it.
#include "import/ib_network.h"

namespace weft::import {

namespace {

class IbNetDiscover final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "ibnetdiscover"; }
  [[nodiscard]] std::string_view summary() const override {
    return "what ibnetdiscover prints, records or port list (-p)";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    return looks_like_ib_port_list(source.text) ||
           (has_ib_record(source.text) &&
            (source.text.find("guid=0x") != std::string::npos ||
             source.text.find("# Topology file") != std::string::npos));
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& inputs) const override {
    return read_ib(source, inputs);
  }
};

}  // namespace

const Importer& ibnetdiscover_importer() {
  static const IbNetDiscover kImporter;
  return kImporter;
}

}  // namespace weft::import
