#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "bench/facts/addresses.hpp"
#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kKey = "name.peer_resolves_to";

/// A name server that is away costs 5 s a try (resolv.conf(5)); a fact is not worth that.
constexpr std::chrono::milliseconds kPatience{500};

struct Lookup {
  std::vector<std::string> addresses;
  std::string why_none;
};

Lookup look_up(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &first); code != 0) {
    return {{}, ::gai_strerror(code)};
  }
  Lookup found;
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    sockaddr_storage storage{};
    std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen,
                reinterpret_cast<char*>(&storage));
    found.addresses.push_back(to_text(ip_of(storage)));
  }
  ::freeaddrinfo(first);
  return found;
}

// The resolver cannot be interrupted: a lookup that takes too long ends in its own time, with all
// that it touches.
Lookup look_up_in_time(const std::string& name) {
  auto answer = std::make_shared<std::promise<Lookup>>();
  auto future = answer->get_future();
  std::thread([answer, name] { answer->set_value(look_up(name)); }).detach();
  if (future.wait_for(kPatience) != std::future_status::ready) {
    return {{}, fmt::format("no answer within {} ms", kPatience.count())};
  }
  return future.get();
}

// A recorded tree has its hosts(5) and no resolver.
Lookup look_up_in_hosts(const std::string& root, const std::string& name) {
  const auto text = read_text_file(root, "/etc/hosts");
  if (!text) {
    return {{}, text.error().message};
  }
  Lookup found;
  for (const auto line : split_lines(*text)) {
    const auto words = split_words(line.substr(0, line.find('#')));
    if (words.size() > 1 && std::ranges::find(words, name) > words.begin() &&
        std::ranges::find(words, name) != words.end()) {
      found.addresses.emplace_back(words[0]);
    }
  }
  found.why_none = found.addresses.empty() ? "/etc/hosts does not have it" : "";
  return found;
}

}  // namespace

void collect_names(Place& place) {
  const std::string& name = place.options.peer_name;
  if (name.empty()) {
    return;
  }
  const bool live = place.options.root == "/";
  const char* source = live ? "getaddrinfo" : "/etc/hosts";
  const Lookup found = live ? look_up_in_time(name) : look_up_in_hosts(place.options.root, name);
  place.facts.add("name.peer", name, "control channel");
  if (found.addresses.empty()) {
    place.facts.add_unknown(kKey, source, fmt::format("{}: {}", name, found.why_none));
    return;
  }
  place.facts.add(kKey, fmt::format("{}", fmt::join(found.addresses, ",")), source);
  const bool tested =
      std::ranges::find(found.addresses, place.options.peer_address) != found.addresses.end();
  place.facts.add("name.peer_is_tested_address", tested, source);
  if (const auto route = place.network.route_to(found.addresses.front(), {}); route) {
    place.facts.add("name.peer_interface", route->interface, "rtnetlink RTM_GETROUTE");
  }
}

}  // namespace netbench::facts
