#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/core/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace netbench::cli {

/// The options of one subcommand and its help. The parser's own header stays behind this one: it
/// would cost every file that includes it some seconds to compile.
class CommandLine {
 public:
  /// One option; valid as long as its command line.
  class Option {
   public:
    explicit Option(CLI::Option* option) : option_(option) {}
    /// The heading in the help under which the option stands; "": hidden.
    Option& group(const std::string& heading);
    Option& required(bool is_required = true);
    /// No other value is taken.
    Option& one_of(const std::vector<std::string>& values);
    /// An empty text is no value: `--json ''` is a usage error.
    Option& not_empty();

   private:
    CLI::Option* option_;
  };

  CommandLine(const std::string& description, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `names` as "--long", "-s,--long", or a word for a positional one; `value` outlives the
  /// parsing. Defined for the types at the end of parse.cpp.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);
  /// A flag takes no value: `--quiet=5` is a usage error.
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  void footer(const std::string& text);

  /// How often the option was given.
  [[nodiscard]] std::size_t count(const std::string& name) const;

  /// Parses the words behind the subcommand's name. Returns an exit code where the command is over:
  /// 0 after --help; else nothing was said yet and `error` (class usage) holds why.
  [[nodiscard]] std::optional<int> parse(std::span<char* const> words, std::optional<Error>& error);

  /// As above; prints the error to standard error and returns its exit code.
  [[nodiscard]] std::optional<int> parse_or_print(std::span<char* const> words);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// Prints an error to standard error and returns its exit code.
[[nodiscard]] int report(const Error& error);

}  // namespace netbench::cli
