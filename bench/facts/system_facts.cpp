#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

struct FileFact {
  const char* key;
  const char* path;
};

constexpr std::array kTextFiles{
    FileFact{"host.name", "/proc/sys/kernel/hostname"},
    FileFact{"host.boot_id", "/proc/sys/kernel/random/boot_id"},
    FileFact{"host.vendor", "/sys/class/dmi/id/sys_vendor"},
    FileFact{"host.product", "/sys/class/dmi/id/product_name"},
    FileFact{"kernel.release", "/proc/sys/kernel/osrelease"},
    FileFact{"kernel.version", "/proc/sys/kernel/version"},
    FileFact{"clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
};

// os-release(5): KEY=value, the value perhaps quoted.
std::string os_release_value(std::string_view text, std::string_view key) {
  for (const auto line : split_lines(text)) {
    if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) {
      auto value = trimmed(line.substr(key.size() + 1));
      if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
        value = value.substr(1, value.size() - 2);
      }
      return std::string(value);
    }
  }
  return {};
}

void add_os(FactList& facts) {
  std::string source = "/etc/os-release";
  auto text = read_text_file(facts.root(), source);
  if (!text) {
    source = "/usr/lib/os-release";
    text = read_text_file(facts.root(), source);
  }
  const std::string name = text ? os_release_value(*text, "PRETTY_NAME") : std::string{};
  if (name.empty()) {
    facts.add_unknown("os.name", source, text ? "no PRETTY_NAME in it" : text.error().message);
  } else {
    facts.add("os.name", name, source);
  }
}

void add_memory(FactList& facts) {
  const std::string source = "/proc/meminfo";
  const auto text = read_text_file(facts.root(), source);
  for (const auto line : text ? split_lines(*text) : std::vector<std::string_view>{}) {
    const auto words = split_words(line);
    const auto kib = words.size() > 1 ? to_integer(words[1]) : std::nullopt;
    if (words.size() > 1 && words[0] == "MemTotal:" && kib) {
      facts.add("memory.total_bytes", *kib * 1024, source);
      return;
    }
  }
  facts.add_unknown("memory.total_bytes", source, text ? "no MemTotal line" : text.error().message);
}

// Files that container engines leave, and words in the control group of process 1.
constexpr std::array kContainerFiles{
    FileFact{"docker", "/.dockerenv"},
    FileFact{"podman", "/run/.containerenv"},
};
constexpr std::array<std::string_view, 5> kContainerWords{"docker", "kubepods", "containerd", "lxc",
                                                          "libpod"};

void add_container(FactList& facts) {
  constexpr const char* kKey = "host.container";
  for (const auto& [engine, path] : kContainerFiles) {
    if (read_text_file(facts.root(), path)) {
      facts.add(kKey, std::string(engine), path);
      return;
    }
  }
  if (const auto manager = read_line_file(facts.root(), "/run/systemd/container"); manager) {
    facts.add(kKey, *manager, "/run/systemd/container");
    return;
  }
  const std::string source = "/proc/1/cgroup";
  const auto groups = read_text_file(facts.root(), source);
  if (!groups) {
    facts.add_unknown(kKey, source, groups.error().message);
    return;
  }
  const auto word = std::ranges::find_if(kContainerWords, [&](std::string_view candidate) {
    return groups->find(candidate) != std::string::npos;
  });
  facts.add(kKey, std::string(word == kContainerWords.end() ? "none seen" : *word), source);
}

}  // namespace

void collect_system(FactList& facts) {
  for (const auto& [key, path] : kTextFiles) {
    facts.add_text_file(key, path);
  }
  add_os(facts);
  add_memory(facts);
  add_container(facts);
}

}  // namespace netbench::facts
