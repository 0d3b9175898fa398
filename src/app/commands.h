// Every subcommand, each defined in the file of its name.
#pragma once

#include "app/command.h"

namespace weft::app {

Command bench_command();
Command calibrate_command();
Command compare_command();
Command demo_command();
Command export_command();
Command list_command();
Command path_command();
Command run_command();
Command show_command();
Command topo_command();
Command validate_command();

}  // namespace weft::app
