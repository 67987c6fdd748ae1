#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/cpus.hpp"
#include "transports/sdk/error.hpp"
#include "transports/sdk/thread_use.hpp"

namespace netbench::sdk {

/// One thread's work: `prepare` (allocate and touch buffers, on its own CPU) before the barrier,
/// `work` after it. Neither may throw.
struct Job {
  std::function<void()> prepare;
  std::function<void()> work;
  std::optional<int> cpu;
};

/// One thread a job. All are prepared when launch() returns and begin together at start(). Signals
/// are blocked in them. [control-thread], but for the waiting calls.
class WorkerTeam {
 public:
  WorkerTeam() = default;
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  ~WorkerTeam() { join(); }

  /// Throws NB_FAILED where the system gives no further thread.
  void launch(std::vector<Job> jobs) {
    jobs_ = std::move(jobs);
    meters_ = std::vector<ThreadMeter>(jobs_.size());
    const SignalsBlocked blocked;
    try {
      for (std::size_t index = 0; index < jobs_.size(); ++index) {
        threads_.emplace_back([this, index] { run(index); });
      }
    } catch (const std::system_error& error) {
      join();
      throw system_error("too-many-threads",
                         "starting thread " + std::to_string(threads_.size() + 1) + " of " +
                             std::to_string(jobs_.size()),
                         error.code().value(), "use fewer streams, or raise `ulimit -u`");
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return prepared_ == jobs_.size(); });
  }

  /// Opens the barrier; further calls do nothing. [any-thread]
  void start() { set_gate(Gate::open); }

  /// Whether every thread's work has ended by `deadline`. [any-thread]
  [[nodiscard]] bool wait_all(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] { return ended_ == threads_.size(); });
  }

  /// Threads that never passed the barrier leave; the others must end by themselves.
  void join() {
    set_gate(Gate::closed);
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] double cpu_seconds(std::size_t index) const { return meters_[index].cpu_seconds(); }
  /// Of the thread's work, without its preparation.
  [[nodiscard]] ThreadUse use(std::size_t index) const { return meters_[index].use(); }

 private:
  enum class Gate { waiting, open, closed };

  /// New threads inherit the mask: none of them takes a signal meant for the process.
  class SignalsBlocked {
   public:
    SignalsBlocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

   private:
    sigset_t before_{};
  };

  void run(std::size_t index) {
    Job& job = jobs_[index];
    if (job.cpu) {
      pin_this_thread(*job.cpu);
    }
    if (job.prepare) {
      job.prepare();
    }
    if (pass_gate()) {
      meters_[index].begin();
      job.work();
      meters_[index].end();
    }
    const std::scoped_lock lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }

  bool pass_gate() {
    std::unique_lock lock(mutex_);
    ++prepared_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return gate_ != Gate::waiting; });
    return gate_ == Gate::open;
  }

  void set_gate(Gate gate) {
    const std::scoped_lock lock(mutex_);
    if (gate_ == Gate::waiting) {
      gate_ = gate;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Gate gate_ = Gate::waiting;
  std::size_t prepared_ = 0;
  std::size_t ended_ = 0;
  std::vector<Job> jobs_;
  std::vector<ThreadMeter> meters_;
  std::vector<std::thread> threads_;
};

}  // namespace netbench::sdk
