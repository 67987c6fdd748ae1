#include "bench/plugin/host.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "bench/plan/levels.hpp"
#include "bench/plugin/isolated_probe.hpp"

namespace netbench::plugin {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "netbench_transport_";
constexpr std::string_view kSuffix = ".so";

void append_environment(std::vector<fs::path>& directories) {
  const char* variable = std::getenv("NETBENCH_TRANSPORT_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) {
      directories.emplace_back(rest.substr(0, end));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// lib, lib64 and Debian's lib/<triplet> beside the directory of the binary, as they exist.
void append_libdirs(const fs::path& prefix, std::vector<fs::path>& directories) {
  constexpr std::string_view kInLib = "netbench/transports";
  std::error_code ignored;
  for (const char* name : {"lib", "lib64"}) {
    const fs::path lib = prefix / name;
    directories.push_back(lib / kInLib);
    for (const fs::directory_entry& entry : fs::directory_iterator(lib, ignored)) {
      if (fs::is_directory(entry.path() / kInLib, ignored)) {
        directories.push_back(entry.path() / kInLib);
      }
    }
  }
}

/// The transport's name in a file name, or empty.
std::string name_in(const fs::path& file) {
  const std::string text = file.filename().string();
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix) ||
      text.size() <= kPrefix.size() + kSuffix.size()) {
    return {};
  }
  return text.substr(kPrefix.size(), text.size() - kPrefix.size() - kSuffix.size());
}

std::string joined(const auto& items) {
  std::string text;
  for (const auto& item : items) {
    text += (text.empty() ? "" : ", ") + std::string(item);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<fs::path> default_directories() {
  std::vector<fs::path> directories;
  append_environment(directories);
  std::error_code unreadable;
  const fs::path binary = fs::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) {
    directories.push_back(binary.parent_path() / "transports");
    append_libdirs(binary.parent_path().parent_path(), directories);
  }
  directories.emplace_back("/usr/local/lib/netbench/transports");
  return directories;
}

PluginHost::PluginHost(std::vector<fs::path> directories) : directories_(std::move(directories)) {}

std::vector<std::string> PluginHost::names() const {
  std::set<std::string> found;
  for (const fs::path& directory : directories_) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
      if (std::string name = name_in(entry.path()); !name.empty()) {
        found.insert(std::move(name));
      }
    }
  }
  return {found.begin(), found.end()};
}

Result<fs::path> PluginHost::find(std::string_view name) const {
  const std::string file = fmt::format("{}{}{}", kPrefix, name, kSuffix);
  for (const fs::path& directory : directories_) {
    std::error_code ignored;
    if (const fs::path path = directory / file;
        name.find('/') == std::string_view::npos && fs::is_regular_file(path, ignored)) {
      return path;
    }
  }
  const auto there = names();
  return fail(
      "plugin-missing",
      fmt::format("there is no transport \"{}\"{}; found: {}", name,
                  plan::did_you_mean(name, there), joined(there)),
      fmt::format("Looked in {}; NETBENCH_TRANSPORT_PATH adds directories.", joined(directories_)),
      ExitClass::usage);
}

Result<Transport> PluginHost::load(std::string_view name) const {
  return find(name).and_then([&](const fs::path& file) -> Result<Transport> {
    auto transport = load_file(file);
    if (transport && transport->name() != name) {
      return fail("plugin-invalid", fmt::format("{} calls itself \"{}\", not \"{}\"", file.string(),
                                                transport->name(), name));
    }
    return transport;
  });
}

ProbeReport PluginHost::probe_isolated(std::string_view name, Nanoseconds limit) const {
  const auto file = find(name);
  if (!file) {
    return {.availability = Availability::broken, .error = file.error()};
  }
  return plugin::probe_isolated(*file, limit);
}

Result<Transport> load_file(const fs::path& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return fail("plugin-unloadable", fmt::format("{} cannot be loaded: {}", file.string(),
                                                 reason == nullptr ? "unknown reason" : reason));
  }
  const auto* table = static_cast<const nb_transport*>(dlsym(handle, NB_TRANSPORT_ENTRY_SYMBOL));
  if (table == nullptr) {
    return fail("plugin-invalid", fmt::format("{} has no symbol {}: it is no transport of netbench",
                                              file.string(), NB_TRANSPORT_ENTRY_SYMBOL));
  }
  return Transport::from_table(table, file.string());
}

}  // namespace netbench::plugin
