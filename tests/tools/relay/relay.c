// An emulated wire between two Ethernet interfaces: forwards every frame from each to the other
// with delay, rate limit, loss, reordering, duplication and corruption, as tc-netem(8) would.
// It stands in for netem where the kernel has none. The interfaces must not aggregate (TSO, GSO
// and checksum offload off at the hosts), so that one frame here is one frame on the wire.
//
// Meaning of the options, each with the sense tc-netem(8) gives it:
//   delay      one way, in each impaired direction
//   loss       share of frames that vanish; duplicate: share sent twice
//   reorder    share sent at once, ahead of the frames that wait for the delay
//   corrupt    share with one bit flipped behind the IPv4 header, so that checksums must find it
//   rate       bits of frames (with the 14-byte Ethernet header) per second; --queue bytes may wait
// SIGUSR1 prints the statistics, SIGTERM and SIGINT print them and end; one JSON object a line.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

enum {
  kMaxFrameBytes = 65536 + 64,
  kBurstFrames = 64,  // frames taken from one socket before the other gets its turn
  kFirstCorruptibleByte = ETH_HLEN + 20,
  kSocketBufferBytes = 32 << 20,
};

struct Impairment {
  int64_t delay_ns;
  double loss, reorder, duplicate, corrupt;  // probabilities, 0 to 1
  double rate_bps;                           // 0: unlimited
  int64_t queue_bytes;                       // waiting behind the rate limit
};

struct Frame {
  struct Frame* next;
  int64_t due_ns;
  size_t size_bytes;
  uint8_t bytes[];
};

struct Counters {
  uint64_t received, sent, sent_bytes, lost, queue_dropped, reordered, duplicated, corrupted,
      refused, overrun;
};

// One direction: frames read from `in` leave through `out`, in order of `due_ns`.
struct Direction {
  const char* name;
  int in, out;
  struct Impairment impairment;
  struct Counters counters;
  struct Frame *head, *tail;
  int64_t link_free_ns;  // when the rate limit has let the last accepted frame through
  uint64_t random_state;
};

static volatile sig_atomic_t stop_requested, stats_requested;

static void on_signal(int number) {
  if (number == SIGUSR1) {
    stats_requested = 1;
  } else {
    stop_requested = 1;
  }
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
static uint64_t random_u64(struct Direction* way) {
  uint64_t z = (way->random_state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

static bool chance(struct Direction* way, double probability) {
  return probability > 0 && (double)(random_u64(way) >> 11) * 0x1.0p-53 < probability;
}

static void transmit(struct Direction* way, const uint8_t* bytes, size_t size_bytes) {
  while (send(way->out, bytes, size_bytes, 0) < 0) {
    if (errno != EINTR) {
      way->counters.refused++;
      return;
    }
  }
  way->counters.sent++;
  way->counters.sent_bytes += size_bytes;
}

static void enqueue(struct Direction* way, const uint8_t* bytes, size_t size_bytes,
                    int64_t due_ns) {
  struct Frame* frame = malloc(sizeof *frame + size_bytes);
  if (frame == NULL) {
    way->counters.queue_dropped++;
    return;
  }
  *frame = (struct Frame){.due_ns = due_ns, .size_bytes = size_bytes};
  memcpy(frame->bytes, bytes, size_bytes);
  if (way->tail != NULL) {
    way->tail->next = frame;
  } else {
    way->head = frame;
  }
  way->tail = frame;
}

// When the rate limit lets this frame pass, or -1 when its queue is full.
static int64_t pass_rate_limit(struct Direction* way, size_t size_bytes, int64_t now) {
  const double rate_bps = way->impairment.rate_bps;
  if (rate_bps <= 0) {
    return now;
  }
  const int64_t start = way->link_free_ns > now ? way->link_free_ns : now;
  const double waiting_bytes = (double)(start - now) * rate_bps / 8e9;
  if (waiting_bytes + (double)size_bytes > (double)way->impairment.queue_bytes) {
    way->counters.queue_dropped++;
    return -1;
  }
  way->link_free_ns = start + (int64_t)((double)size_bytes * 8e9 / rate_bps);
  return way->link_free_ns;
}

static void corrupt_one_bit(struct Direction* way, uint8_t* bytes, size_t size_bytes) {
  const uint64_t choice = random_u64(way);
  const size_t span = size_bytes - kFirstCorruptibleByte;
  bytes[kFirstCorruptibleByte + (size_t)(choice >> 3) % span] ^= (uint8_t)(1U << (choice & 7));
  way->counters.corrupted++;
}

static void forward_copy(struct Direction* way, const uint8_t* bytes, size_t size_bytes,
                         int64_t now) {
  if (chance(way, way->impairment.reorder)) {
    way->counters.reordered++;
    transmit(way, bytes, size_bytes);
    return;
  }
  const int64_t passed_ns = pass_rate_limit(way, size_bytes, now);
  if (passed_ns < 0) {
    return;
  }
  const int64_t due_ns = passed_ns + way->impairment.delay_ns;
  if (due_ns <= now && way->head == NULL) {
    transmit(way, bytes, size_bytes);
  } else {
    enqueue(way, bytes, size_bytes, due_ns);
  }
}

static void accept_frame(struct Direction* way, uint8_t* bytes, size_t size_bytes, int64_t now) {
  way->counters.received++;
  if (chance(way, way->impairment.loss)) {
    way->counters.lost++;
    return;
  }
  if (size_bytes > kFirstCorruptibleByte && chance(way, way->impairment.corrupt)) {
    corrupt_one_bit(way, bytes, size_bytes);
  }
  forward_copy(way, bytes, size_bytes, now);
  if (chance(way, way->impairment.duplicate)) {
    way->counters.duplicated++;
    forward_copy(way, bytes, size_bytes, now);
  }
}

static void receive_burst(struct Direction* way) {
  static uint8_t bytes[kMaxFrameBytes];
  for (int i = 0; i < kBurstFrames; ++i) {
    const ssize_t size = recv(way->in, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size <= 0) {
      return;
    }
    accept_frame(way, bytes, (size_t)size, now_ns());
  }
}

static void send_due(struct Direction* way, int64_t now) {
  while (way->head != NULL && way->head->due_ns <= now) {
    struct Frame* frame = way->head;
    way->head = frame->next;
    if (way->head == NULL) {
      way->tail = NULL;
    }
    transmit(way, frame->bytes, frame->size_bytes);
    free(frame);
  }
}

static void read_overruns(struct Direction* way) {
  struct tpacket_stats stats;
  socklen_t size = sizeof stats;
  if (getsockopt(way->in, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0) {
    way->counters.overrun += stats.tp_drops;  // the kernel clears its count at each reading
  }
}

static void print_direction(struct Direction* way) {
  read_overruns(way);
  const struct Counters* c = &way->counters;
  printf("\"%s\": {\"received\": %" PRIu64 ", \"sent\": %" PRIu64 ", \"sent_bytes\": %" PRIu64
         ", \"lost\": %" PRIu64 ", \"queue_dropped\": %" PRIu64 ", \"reordered\": %" PRIu64
         ", \"duplicated\": %" PRIu64 ", \"corrupted\": %" PRIu64 ", \"refused\": %" PRIu64
         ", \"overrun\": %" PRIu64 "}",
         way->name, c->received, c->sent, c->sent_bytes, c->lost, c->queue_dropped, c->reordered,
         c->duplicated, c->corrupted, c->refused, c->overrun);
}

static void print_stats(struct Direction ways[2]) {
  printf("{");
  print_direction(&ways[0]);
  printf(", ");
  print_direction(&ways[1]);
  printf("}\n");
  fflush(stdout);
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

static int open_interface(const char* interface) {
  const unsigned index = if_nametoindex(interface);
  if (index == 0) {
    die(interface);
  }
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    die("AF_PACKET socket (needs CAP_NET_RAW)");
  }
  const int one = 1;
  const int buffer_bytes = kSocketBufferBytes;
  setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
  const struct sockaddr_ll address = {
      .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)index};
  if (bind(fd, (const struct sockaddr*)&address, sizeof address) != 0) {
    die("bind");
  }
  return fd;
}

static int64_t earliest_due_ns(const struct Direction ways[2]) {
  int64_t due_ns = INT64_MAX;
  for (int i = 0; i < 2; ++i) {
    if (ways[i].head != NULL && ways[i].head->due_ns < due_ns) {
      due_ns = ways[i].head->due_ns;
    }
  }
  return due_ns;
}

static void wait_for_work(const struct Direction ways[2]) {
  struct pollfd fds[2] = {{.fd = ways[0].in, .events = POLLIN},
                          {.fd = ways[1].in, .events = POLLIN}};
  const int64_t due_ns = earliest_due_ns(ways);
  sigset_t none;
  sigemptyset(&none);
  if (due_ns == INT64_MAX) {
    ppoll(fds, 2, NULL, &none);
    return;
  }
  const int64_t left_ns = due_ns - now_ns();
  const struct timespec timeout = {.tv_sec = left_ns > 0 ? left_ns / 1000000000 : 0,
                                   .tv_nsec = left_ns > 0 ? left_ns % 1000000000 : 0};
  ppoll(fds, 2, &timeout, &none);
}

static void relay(struct Direction ways[2]) {
  while (!stop_requested) {
    if (stats_requested) {
      stats_requested = 0;
      print_stats(ways);
    }
    wait_for_work(ways);
    for (int i = 0; i < 2; ++i) {
      receive_burst(&ways[i]);
      send_due(&ways[i], now_ns());
    }
  }
}

// Signals are delivered only while ppoll waits, so none is lost between a check and the wait.
static void install_signals(void) {
  const struct sigaction action = {.sa_handler = on_signal};
  sigset_t mask;
  sigemptyset(&mask);
  const int numbers[] = {SIGTERM, SIGINT, SIGUSR1};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    sigaction(numbers[i], &action, NULL);
    sigaddset(&mask, numbers[i]);
  }
  sigprocmask(SIG_BLOCK, &mask, NULL);
}

struct Arguments {
  double delay_us, loss, reorder, duplicate, corrupt, rate_bps, queue_bytes, seed;
  const char* only;  // "ab", "ba" or "both"
};

static double parse_number(const char* option, const char* text, double max) {
  char* end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0 && value <= max)) {
    fprintf(stderr, "testbed-relay: --%s %s: expected a number from 0 to %g\n", option, text, max);
    exit(2);
  }
  return value;
}

static struct Arguments parse_arguments(int argc, char** argv) {
  struct Arguments args = {.queue_bytes = 1 << 20, .seed = 1, .only = "both"};
  const struct {
    const char* name;
    double* value;
    double max;
  } numbers[] = {{"delay-us", &args.delay_us, 6e7},
                 {"loss", &args.loss, 1},
                 {"reorder", &args.reorder, 1},
                 {"duplicate", &args.duplicate, 1},
                 {"corrupt", &args.corrupt, 1},
                 {"rate-bps", &args.rate_bps, 1e13},
                 {"queue-bytes", &args.queue_bytes, 1e12},
                 {"seed", &args.seed, 1e15}};
  enum { kNumbers = sizeof numbers / sizeof numbers[0] };
  struct option options[kNumbers + 2] = {{"only", required_argument, NULL, kNumbers}};
  for (int i = 0; i < kNumbers; ++i) {
    options[i + 1] = (struct option){numbers[i].name, required_argument, NULL, i};
  }
  int key;
  while ((key = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (key == kNumbers) {
      args.only = optarg;
    } else if (key < kNumbers) {
      *numbers[key].value = parse_number(numbers[key].name, optarg, numbers[key].max);
    } else {
      exit(2);  // getopt has said why
    }
  }
  return args;
}

static struct Direction make_direction(const char* name, int in, int out,
                                       const struct Arguments* args) {
  struct Direction way = {.name = name, .in = in, .out = out};
  way.random_state = (uint64_t)args->seed * 2 + (name[0] == 'b');
  if (strcmp(args->only, "both") == 0 || strcmp(args->only, name) == 0) {
    way.impairment = (struct Impairment){.delay_ns = (int64_t)(args->delay_us * 1e3),
                                         .loss = args->loss,
                                         .reorder = args->reorder,
                                         .duplicate = args->duplicate,
                                         .corrupt = args->corrupt,
                                         .rate_bps = args->rate_bps,
                                         .queue_bytes = (int64_t)args->queue_bytes};
  }
  return way;
}

int main(int argc, char** argv) {
  const struct Arguments args = parse_arguments(argc, argv);
  if (argc - optind != 2) {
    fprintf(stderr, "usage: testbed-relay [options] INTERFACE_A INTERFACE_B\n");
    return 2;
  }
  const int a = open_interface(argv[optind]);
  const int b = open_interface(argv[optind + 1]);
  struct Direction ways[2] = {make_direction("ab", a, b, &args), make_direction("ba", b, a, &args)};
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  install_signals();
  puts("{\"ready\": true}");
  fflush(stdout);
  relay(ways);
  print_stats(ways);
  return 0;
}
