#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

// Where the loader and NVIDIA's packages put libraries.
constexpr std::array<const char*, 6> kLibraryFolders{"/usr/local/cuda/lib64",
                                                     "/usr/lib/x86_64-linux-gnu",
                                                     "/usr/lib/aarch64-linux-gnu",
                                                     "/usr/lib64",
                                                     "/usr/local/lib",
                                                     "/usr/lib"};

bool is_version(std::string_view word) {
  constexpr std::string_view kVersion = "0123456789.";
  return word.find('.') != std::string_view::npos &&
         word.find_first_not_of(kVersion) == std::string_view::npos && word.front() != '.';
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build …"
void add_nvidia_driver(FactList& facts) {
  const std::string path = "/proc/driver/nvidia/version";
  const auto text = read_text_file(facts.root(), path);
  if (!text) {
    facts.add_unknown("nvidia.driver", path, "no NVIDIA driver is loaded");
    return;
  }
  const auto words = split_words(*text);
  const auto version = std::ranges::find_if(words, is_version);
  if (version == words.end()) {
    facts.add_unknown("nvidia.driver", path, path + " names no version");
  } else {
    facts.add("nvidia.driver", std::string(*version), path);
  }
  const bool open = text->find("Open Kernel Module") != std::string::npos;
  facts.add("nvidia.kernel_module", std::string(open ? "open" : "proprietary"), path);
  const std::string peer_memory = "/sys/module/nvidia_peermem";
  facts.add("nvidia.peermem", !list_directory(facts.root(), peer_memory).empty(), peer_memory);
}

struct Library {
  const char* key;
  std::string_view name;  // with the dot in front of its version
  const char* why_none;
};

constexpr Library kCuda{"cuda.version", "libcudart.so.", "no libcudart in the usual folders"};
constexpr Library kNccl{"nccl.version", "libnccl.so.", "no libnccl in the usual folders"};

// The longest version behind a library's name: "libnccl.so.2.18.3" says more than "libnccl.so.2".
bool add_library(FactList& facts, const Library& library) {
  std::string best;
  std::string source;
  for (const char* folder : kLibraryFolders) {
    for (const auto& file : list_directory(facts.root(), folder)) {
      if (file.starts_with(library.name) && file.size() - library.name.size() > best.size()) {
        best = file.substr(library.name.size());
        source = fmt::format("{}/{}", folder, file);
      }
    }
  }
  if (!best.empty()) {
    facts.add(library.key, best, source);
  }
  return !best.empty();
}

// Quoted text behind `"cuda"` and `"version"` of NVIDIA's version.json.
std::string version_in_json(std::string_view text) {
  for (const std::string_view name : {"\"cuda\"", "\"version\"", "\""}) {
    const auto at = text.find(name);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + name.size());
  }
  return std::string(text.substr(0, std::min(text.find('"'), text.size())));
}

void add_cuda(FactList& facts) {
  const std::string json = "/usr/local/cuda/version.json";
  const std::string plain = "/usr/local/cuda/version.txt";
  if (const auto text = read_text_file(facts.root(), json); text) {
    if (auto version = version_in_json(*text); is_version(version)) {
      facts.add(kCuda.key, std::move(version), json);
      return;
    }
  }
  if (const auto text = read_text_file(facts.root(), plain); text) {
    const auto words = split_words(*text);
    if (const auto version = std::ranges::find_if(words, is_version); version != words.end()) {
      facts.add(kCuda.key, std::string(*version), plain);
      return;
    }
  }
  if (!add_library(facts, kCuda)) {
    facts.add_unknown(kCuda.key, json, kCuda.why_none);
  }
}

// NVIDIA's packaged drivers (MLNX_OFED, DOCA) carry a version; the kernel's own has none.
void add_ofed(FactList& facts) {
  const std::string path = "/sys/module/mlx5_core/version";
  if (const auto version = read_line_file(facts.root(), path); version) {
    facts.add("ofed.version", *version, path);
  } else if (list_directory(facts.root(), "/sys/module/mlx5_core").empty()) {
    facts.add_unknown("ofed.version", path, "mlx5_core is not loaded");
  } else {
    facts.add_unknown("ofed.version", path, "the kernel's own mlx5_core, which has no version");
  }
}

}  // namespace

void collect_versions(FactList& facts) {
  add_nvidia_driver(facts);
  add_cuda(facts);
  if (!add_library(facts, kNccl)) {
    facts.add_unknown(kNccl.key, "/usr/lib", kNccl.why_none);
  }
  add_ofed(facts);
}

}  // namespace netbench::facts
