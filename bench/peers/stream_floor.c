/* Blocking send()/recv() of one stream, nothing else in the loop.
 *   stream_floor recv HOST PORT [--size BYTES] [--lowat BYTES] [--discard]
 *   stream_floor send HOST PORT [--size BYTES] [--seconds S] [--bytes N] [--congestion NAME]
 * Each end prints: role, bytes, wall seconds, CPU seconds, system calls, CPU seconds per GB and
 * system calls per GB. */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>

#include "floor.h"

struct settings {
  size_t size;
  int lowat;
  int flags;
  double seconds;
  int64_t bytes;
  const char* congestion;
};

static volatile sig_atomic_t stop;

static void on_alarm(int signal_number) {
  (void)signal_number;
  stop = 1;
}

static void report(const char* role, int64_t bytes, int64_t calls, int64_t started_ns,
                   double cpu_before) {
  const double wall = 1e-9 * (double)(now_ns() - started_ns);
  const double cpu = cpu_seconds() - cpu_before;
  const double gigabytes = (double)bytes * 1e-9;
  printf(
      "role=%s bytes=%lld seconds=%.6f cpu_s=%.6f calls=%lld cpu_s_per_gb=%.4f "
      "calls_per_gb=%.1f\n",
      role, (long long)bytes, wall, cpu, (long long)calls, gigabytes > 0 ? cpu / gigabytes : 0,
      gigabytes > 0 ? (double)calls / gigabytes : 0);
}

static void receive_all(int fd, const struct settings* settings, char* buffer) {
  int64_t bytes = 0, calls = 0;
  if (settings->lowat > 0 &&
      setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &settings->lowat, sizeof settings->lowat) != 0) {
    die("SO_RCVLOWAT");
  }
  const double cpu_before = cpu_seconds();
  const int64_t started = now_ns();
  for (;;) {
    const ssize_t moved = recv(fd, buffer, settings->size, settings->flags);
    if (moved <= 0) break;
    bytes += moved;
    ++calls;
  }
  report("recv", bytes, calls, started, cpu_before);
}

static void send_all(int fd, const struct settings* settings, char* buffer) {
  struct sigaction action = {0};
  int64_t bytes = 0, calls = 0;
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  alarm((unsigned)settings->seconds);
  const double cpu_before = cpu_seconds();
  const int64_t started = now_ns();
  while (!stop && bytes < settings->bytes) {
    const ssize_t moved = send(fd, buffer, settings->size, MSG_NOSIGNAL);
    if (moved <= 0) break;
    bytes += moved;
    ++calls;
  }
  report("send", bytes, calls, started, cpu_before);
  shutdown(fd, SHUT_WR);
  while (recv(fd, buffer, settings->size, 0) > 0) {
  }
}

int main(int argc, char** argv) {
  static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                          {"lowat", required_argument, NULL, 'l'},
                                          {"discard", no_argument, NULL, 'd'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"bytes", required_argument, NULL, 'n'},
                                          {"congestion", required_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
  struct settings settings = {131072, 0, 0, 3600, INT64_MAX, NULL};
  int option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    switch (option) {
      case 's':
        settings.size = strtoull(optarg, NULL, 10);
        break;
      case 'l':
        settings.lowat = atoi(optarg);
        break;
      case 'd':
        settings.flags = MSG_TRUNC;
        break;
      case 't':
        settings.seconds = atof(optarg);
        break;
      case 'n':
        settings.bytes = atoll(optarg);
        break;
      case 'c':
        settings.congestion = optarg;
        break;
      default:
        return 2;
    }
  }
  if (argc - optind != 3) {
    fprintf(stderr, "usage: stream_floor recv|send HOST PORT [options]\n");
    return 2;
  }
  const int receives = strcmp(argv[optind], "recv") == 0;
  char* buffer = aligned_alloc(4096, (settings.size + 4095) / 4096 * 4096);
  memset(buffer, 0x6e, settings.size);
  const int port = atoi(argv[optind + 2]);
  const int fd = receives ? serve_one(argv[optind + 1], port) : connect_to(argv[optind + 1], port);
  if (receives) {
    receive_all(fd, &settings, buffer);
  } else {
    set_congestion(fd, settings.congestion);
    send_all(fd, &settings, buffer);
  }
  close(fd);
  free(buffer);
  return 0;
}
