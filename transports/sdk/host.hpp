#pragma once

#include <cstdint>
#include <string>

#include "transports/abi/nb_transport.h"

/// The harness as a plug-in sees it: thin, non-owning wrappers of the C structs.
namespace netbench::sdk {

enum class LogLevel : int { error = 0, warning = 1, info = 2, debug = 3 };

/// [any-thread]; valid from the first call of the plug-in until the process ends.
class Host {
 public:
  explicit Host(const nb_host* host) : host_(host) {}

  [[nodiscard]] const nb_host* raw() const { return host_; }

  void log(LogLevel level, const std::string& text) const {
    if (host_ != nullptr && host_->log != nullptr) {
      host_->log(host_, static_cast<int>(level), text.c_str());
    }
  }

  /// The service of this id, or null where the harness has none.
  [[nodiscard]] const void* extension(const char* id) const {
    if (host_ == nullptr || host_->extension == nullptr) {
      return nullptr;
    }
    return host_->extension(host_, id);
  }

  /// Data connections over the agent's port, or null.
  [[nodiscard]] const nb_rendezvous* rendezvous() const {
    return static_cast<const nb_rendezvous*>(extension(NB_RENDEZVOUS_ID));
  }

 private:
  const nb_host* host_;
};

/// Where probe() and counters() put what they have to tell.
class Sink {
 public:
  explicit Sink(const nb_sink* sink) : sink_(sink) {}

  void number(const char* name, double value) const {
    if (sink_ != nullptr && sink_->number != nullptr) {
      sink_->number(sink_->context, name, value);
    }
  }
  void number(const std::string& name, double value) const { number(name.c_str(), value); }

  void text(const char* name, const char* value) const {
    if (sink_ != nullptr && sink_->text != nullptr) {
      sink_->text(sink_->context, name, value);
    }
  }
  void text(const std::string& name, const std::string& value) const {
    text(name.c_str(), value.c_str());
  }

 private:
  const nb_sink* sink_;
};

/// Where effective() puts the value of each tunable of this end.
class EffectiveSink {
 public:
  explicit EffectiveSink(const nb_effective_sink* sink) : sink_(sink) {}

  void number(const char* name, std::int64_t value) const {
    emit(name, value, nullptr, 0, nullptr);
  }
  void text(const char* name, const std::string& value) const {
    emit(name, 0, value.c_str(), 0, nullptr);
  }
  /// As text(), with a remark.
  void noted_text(const char* name, const std::string& value, const std::string& note) const {
    emit(name, 0, value.c_str(), 0, note.c_str());
  }
  /// As number(), with a remark that is not a limit.
  void noted(const char* name, std::int64_t value, const std::string& note) const {
    emit(name, value, nullptr, 0, note.c_str());
  }
  /// Less than was asked for; `note` names the limit and how to raise it.
  void capped(const char* name, std::int64_t value, const std::string& note) const {
    emit(name, value, nullptr, NB_EFFECTIVE_CAPPED, note.c_str());
  }
  /// A choice: its index and its name.
  void choice(const char* name, std::int64_t index, const char* text) const {
    emit(name, index, text, 0, nullptr);
  }

 private:
  void emit(const char* name, std::int64_t number, const char* text, std::uint32_t flags,
            const char* note) const {
    if (sink_ != nullptr && sink_->value != nullptr) {
      sink_->value(sink_->context, name, number, text, flags, note);
    }
  }

  const nb_effective_sink* sink_;
};

}  // namespace netbench::sdk
