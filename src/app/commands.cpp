// The table of subcommands: one row a file.
#include "app/commands.h"

#include <array>

namespace weft::app {

std::span<const Command> all_commands() {
  static const auto kCommands =
      std::to_array<Command>({bench_command(), calibrate_command(), compare_command(),
                              demo_command(), export_command(), list_command(), path_command(),
                              run_command(), show_command(), topo_command(), validate_command()});
  return kCommands;
}

}  // namespace weft::app
