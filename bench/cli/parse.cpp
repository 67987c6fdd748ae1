#include "bench/cli/parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "report/render/table.hpp"

namespace netbench::cli {

CommandLine::Option& CommandLine::Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

CommandLine::Option& CommandLine::Option::required(bool is_required) {
  option_->required(is_required);
  return *this;
}

CommandLine::Option& CommandLine::Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

CommandLine::Option& CommandLine::Option::not_empty() {
  option_->check([](const std::string& text) {
    return text.empty() ? std::string("a value is missing") : std::string();
  });
  return *this;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : app_(std::make_unique<CLI::App>(description, name)) {}

CommandLine::~CommandLine() = default;

template <class T>
CommandLine::Option CommandLine::add_option(const std::string& names, T& value,
                                            const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

CommandLine::Option CommandLine::add_flag(const std::string& names, bool& value,
                                          const std::string& help) {
  return Option(app_->add_flag(names, value, help)->disable_flag_override());
}

void CommandLine::footer(const std::string& text) { app_->footer(text); }

std::size_t CommandLine::count(const std::string& name) const { return app_->count(name); }

std::optional<int> CommandLine::parse(std::span<char* const> arguments,
                                      std::optional<Error>& error) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app_->parse(words);
    return std::nullopt;
  } catch (const CLI::Success&) {
    fmt::print("{}", app_->help());
    return 0;
  } catch (const CLI::ParseError& failure) {
    error =
        Error{"usage", failure.what(),
              fmt::format("\"{} --help\" lists the options.", app_->get_name()), ExitClass::usage};
    return static_cast<int>(ExitClass::usage);
  }
}

std::optional<int> CommandLine::parse_or_print(std::span<char* const> words) {
  std::optional<Error> error;
  const auto exit_code = parse(words, error);
  if (error) {
    return report(*error);
  }
  return exit_code;
}

int report(const Error& error) {
  Error shown = error;  // it may repeat what a file or another host said
  shown.message = report::printable(error.message);
  shown.remedy = report::printable(error.remedy);
  fmt::print(stderr, "{}\n", to_text(shown));
  return static_cast<int>(error.exit_class);
}

template CommandLine::Option CommandLine::add_option(const std::string&, std::string&,
                                                     const std::string&);
template CommandLine::Option CommandLine::add_option(const std::string&, std::vector<std::string>&,
                                                     const std::string&);
template CommandLine::Option CommandLine::add_option(const std::string&, int&, const std::string&);
template CommandLine::Option CommandLine::add_option(const std::string&, std::uint16_t&,
                                                     const std::string&);
template CommandLine::Option CommandLine::add_option(const std::string&, std::uint64_t&,
                                                     const std::string&);
template CommandLine::Option CommandLine::add_option(const std::string&,
                                                     std::optional<std::uint32_t>&,
                                                     const std::string&);

}  // namespace netbench::cli
