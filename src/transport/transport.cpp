#include "transport/transport.h"

namespace weft::transport {

#define X(name) const Transport& name##_transport();
#include "transport/list.def"
#undef X

std::span<const Transport* const> all_transports() {
  static const std::vector<const Transport*> kTable = {
#define X(name) &name##_transport(),
#include "transport/list.def"
#undef X
  };
  return kTable;
}

const Transport* find_transport(std::string_view name) {
  for (const Transport* transport : all_transports()) {
    if (transport->name() == name) return transport;
  }
  return nullptr;
}

Bytes total_size(std::span<const HeaderPart> headers) {
  Bytes total;
  for (const HeaderPart& part : headers) total += part.size;
  return total;
}

bool is_rdma_mtu(Bytes mtu) {
  const std::int64_t n = mtu.count();
  return n == 256 || n == 512 || n == 1024 || n == 2048 || n == 4096;
}

bool is_ip_mtu(Bytes mtu) {
  return mtu >= Bytes(68 + 256) && mtu <= Bytes(9216);
}

}  // namespace weft::transport
