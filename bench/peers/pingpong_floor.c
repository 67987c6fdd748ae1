/* Ping-pong of one message, blocking or spinning, one clock stamp an iteration.
 *   pingpong_floor serve HOST PORT [--size BYTES] [--spin]
 *   pingpong_floor ping HOST PORT [--size BYTES] [--spin] [--count N]
 * The pinging end prints count, p50, p99 and minimum of the round trip in ns, and CPU seconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>

#include "floor.h"

struct settings {
  size_t size;
  int flags;
  int64_t count;
};

static int take(int fd, char* buffer, const struct settings* settings) {
  size_t have = 0;
  while (have < settings->size) {
    const ssize_t moved = recv(fd, buffer + have, settings->size - have, settings->flags);
    if (moved > 0) {
      have += (size_t)moved;
    } else if (moved == 0 || errno != EAGAIN) {
      return 0;
    }
  }
  return 1;
}

static int give(int fd, const char* buffer, const struct settings* settings) {
  size_t done = 0;
  while (done < settings->size) {
    const ssize_t moved = send(fd, buffer + done, settings->size - done, MSG_NOSIGNAL);
    if (moved <= 0) return 0;
    done += (size_t)moved;
  }
  return 1;
}

static int ascending(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

static void ping(int fd, char* buffer, const struct settings* settings) {
  int64_t* samples = calloc((size_t)settings->count, sizeof *samples);
  int64_t done = 0;
  const double cpu_before = cpu_seconds();
  int64_t previous = now_ns();
  for (; done < settings->count; ++done) {
    if (!give(fd, buffer, settings) || !take(fd, buffer, settings)) break;
    const int64_t now = now_ns();
    samples[done] = now - previous;
    previous = now;
  }
  const double cpu = cpu_seconds() - cpu_before;
  if (done == 0) die("no answer");
  qsort(samples, (size_t)done, sizeof *samples, ascending);
  printf("role=ping count=%lld p50_ns=%lld p99_ns=%lld min_ns=%lld cpu_s=%.6f\n", (long long)done,
         (long long)samples[done / 2], (long long)samples[done * 99 / 100], (long long)samples[0],
         cpu);
  free(samples);
}

int main(int argc, char** argv) {
  static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                          {"spin", no_argument, NULL, 'p'},
                                          {"count", required_argument, NULL, 'n'},
                                          {NULL, 0, NULL, 0}};
  struct settings settings = {64, 0, 20000};
  int option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    switch (option) {
      case 's':
        settings.size = strtoull(optarg, NULL, 10);
        break;
      case 'p':
        settings.flags = MSG_DONTWAIT;
        break;
      case 'n':
        settings.count = atoll(optarg);
        break;
      default:
        return 2;
    }
  }
  if (argc - optind != 3) {
    fprintf(stderr, "usage: pingpong_floor serve|ping HOST PORT [options]\n");
    return 2;
  }
  const int serves = strcmp(argv[optind], "serve") == 0;
  char* buffer = calloc(1, settings.size);
  const int port = atoi(argv[optind + 2]);
  const int fd = serves ? serve_one(argv[optind + 1], port) : connect_to(argv[optind + 1], port);
  set_nodelay(fd);
  if (serves) {
    while (take(fd, buffer, &settings) && give(fd, buffer, &settings)) {
    }
  } else {
    ping(fd, buffer, &settings);
  }
  close(fd);
  free(buffer);
  return 0;
}
