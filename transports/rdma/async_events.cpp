#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "transports/rdma/objects.hpp"

namespace netbench::rdma {
namespace {

enum class About { device, port, queue_pair, completion_queue };

/// Of ibv_get_async_event(3); in order of what tells most.
struct EventText {
  ibv_event_type type;
  About about;
  const char* text;
};

constexpr std::array kEvents = {
    EventText{IBV_EVENT_DEVICE_FATAL, About::device, "device removed or failed"},
    EventText{IBV_EVENT_PORT_ERR, About::port, "down"},
    EventText{IBV_EVENT_GID_CHANGE, About::port, "GID table changed"},
    EventText{IBV_EVENT_LID_CHANGE, About::port, "LID changed"},
    EventText{IBV_EVENT_PKEY_CHANGE, About::port, "partition keys changed"},
    EventText{IBV_EVENT_SM_CHANGE, About::port, "subnet manager changed"},
    EventText{IBV_EVENT_QP_FATAL, About::queue_pair, "failed in the device"},
    EventText{IBV_EVENT_QP_REQ_ERR, About::queue_pair, "received a request that cannot be"},
    EventText{IBV_EVENT_QP_ACCESS_ERR, About::queue_pair,
              "received a request for memory that it may not touch"},
    EventText{IBV_EVENT_CQ_ERR, About::completion_queue, "overrun"},
    EventText{IBV_EVENT_PORT_ACTIVE, About::port, "active"},
};

std::string subject_of(const ibv_async_event& event, About about) {
  switch (about) {
    case About::port:
      return "port " + std::to_string(event.element.port_num) + " ";
    case About::queue_pair:
      return "queue pair " + std::to_string(event.element.qp->qp_num) + " ";
    case About::completion_queue:
      return "completion queue ";
    case About::device:
      break;
  }
  return "";
}

}  // namespace

std::vector<std::string> take_async_events(const Context& context) {
  const int flags = ::fcntl(context.async_fd(), F_GETFL);
  if (flags < 0 || ::fcntl(context.async_fd(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return {};
  }
  std::vector<std::pair<std::size_t, std::string>> found;
  ibv_async_event event{};
  while (context.verbs().get_async_event(context.get(), &event) == 0) {
    const auto* row = std::ranges::find(kEvents, event.event_type, &EventText::type);
    if (row != kEvents.end()) {
      found.emplace_back(row - kEvents.begin(), subject_of(event, row->about) + row->text);
    }
    context.verbs().ack_async_event(&event);
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [rank, text] : found) {
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace netbench::rdma
