// The latency of one RDMA write or send, which MPI stands on too.
#pragma once

#include "pointtest/ends.h"

namespace weft::pointtest {

// Half of a ping-pong; payloads up to `inline_limit` ride with the doorbell.
Duration write_time(const Question& question, const Wire& wire, Bytes size, Bytes inline_limit);

}  // namespace weft::pointtest
