#include "bench/cli/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace netbench::cli {

std::optional<int> parse(CLI::App& app, std::span<char* const> arguments,
                         std::optional<Error>& error) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app.parse(words);
    return std::nullopt;
  } catch (const CLI::Success&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError& failure) {
    error =
        Error{"usage", failure.what(),
              fmt::format("\"{} --help\" lists the options.", app.get_name()), ExitClass::usage};
    return static_cast<int>(ExitClass::usage);
  }
}

std::optional<int> parse_or_print(CLI::App& app, std::span<char* const> arguments) {
  std::optional<Error> error;
  const auto exit_code = parse(app, arguments, error);
  if (error) {
    return report(*error);
  }
  return exit_code;
}

int report(const Error& error) {
  fmt::print(stderr, "{}\n", to_text(error));
  return static_cast<int>(error.exit_class);
}

}  // namespace netbench::cli
