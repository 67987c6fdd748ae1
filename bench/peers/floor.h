/* What both floor programs share: sockets of a one-shot server and its client, clocks, and the one
 * line that they print. Measured loops are in the programs themselves. */
#ifndef NETBENCH_BENCH_PEERS_FLOOR_H_
#define NETBENCH_BENCH_PEERS_FLOOR_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime(2), nanosleep(2) under -std=c11 */
#endif

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline void die(const char* what) {
  perror(what);
  exit(1);
}

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static inline struct sockaddr_in address_of(const char* host, int port) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)port);
  if (inet_pton(AF_INET, host, &address.sin_addr) != 1) die("address");
  return address;
}

/* Accepts one connection on host:port. */
static inline int serve_one(const char* host, int port) {
  const int on = 1;
  struct sockaddr_in address = address_of(host, port);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0) die("bind");
  if (listen(listener, 1) != 0) die("listen");
  int fd = accept(listener, NULL, NULL);
  if (fd < 0) die("accept");
  close(listener);
  return fd;
}

/* Connects to host:port, trying for five seconds. */
static inline int connect_to(const char* host, int port) {
  const struct timespec pause = {0, 50000000};
  struct sockaddr_in address = address_of(host, port);
  for (int attempt = 0; attempt < 100; ++attempt) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr*)&address, sizeof address) == 0) return fd;
    close(fd);
    nanosleep(&pause, NULL);
  }
  die("connect");
  return -1;
}

static inline void set_nodelay(int fd) {
  const int on = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) die("TCP_NODELAY");
}

/* The congestion control of the connection, where one is asked for. */
static inline void set_congestion(int fd, const char* name) {
  if (name != NULL &&
      setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) != 0) {
    die("TCP_CONGESTION");
  }
}

#endif
