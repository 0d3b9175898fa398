// From a cluster file's plain data to a Fabric: looks up servers, topology, switches, links, and
// builds. Every name that is not known and every count that does not fit is an InputError at its
// place in the file.
#pragma once

#include <memory>

#include "import/cluster_yaml.h"
#include "scenario/session.h"

namespace weft::scenario {

Cluster build_cluster(const Library& library, const import::ClusterSpec& spec);

// `count` copies of one server, every network port on one ideal switch at the NICs' own rate.
Cluster join_servers(const Library& library, std::unique_ptr<fabric::Fabric> server,
                     std::size_t count, const SourcePosition& asked_at);

// What the network of a cluster runs when nobody says: InfiniBand links run `infiniband`, others
// `rocev2`.
std::string default_stack(const fabric::Fabric& fabric);

}  // namespace weft::scenario
