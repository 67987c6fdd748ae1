#include <fmt/format.h>

#include "bench/cli/command.hpp"
#include "bench/cli/parse.hpp"
#include "bench/session/key.hpp"

namespace netbench::cli {

int run_keygen(std::span<char* const> arguments) {
  CommandLine app{"Makes the key that an agent and its clients share: 32 random bytes, as base64.",
                  "netbench keygen"};
  std::string path = session::default_key_file();
  app.add_option("file", path, "where to write it (mode 0600); never overwritten");
  app.footer(
      "\nExamples:\n"
      "  netbench keygen                                     into ~/.config/netbench/key\n"
      "  netbench keygen ./lab.key                           then: netbench agent --key-file "
      "./lab.key\n"
      "  scp ~/.config/netbench/key host2:.config/netbench/  the other host needs the same\n");
  if (const auto exit_code = app.parse_or_print(arguments)) {
    return *exit_code;
  }
  if (path.empty()) {
    return report({"usage", "there is no home directory to put the key into",
                   "Name a file: netbench keygen FILE", ExitClass::usage});
  }
  const auto key = session::Key::generate();
  if (!key) {
    return report(key.error());
  }
  if (const auto written = session::write_key_file(path, *key); !written) {
    return report(written.error());
  }
  fmt::print("{}\nidentity {}\nCopy the file to the other host; keep its mode 0600.\n", path,
             key->identity());
  return 0;
}

}  // namespace netbench::cli
