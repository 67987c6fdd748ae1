/* The boundary between the harness and a transport plug-in: C11, no dependency.
 *
 * A plug-in is one shared object that exports one symbol, `nb_transport_entry_v1`, a constant
 * `struct nb_transport`. Rules:
 *  - Every struct begins with `struct_size`, set by whoever fills it. Structs only grow at the end;
 *    a reader touches only what the size covers (NB_HAS).
 *  - Threads are written at each pointer. [control-thread]: the one thread that owns the session.
 *    [io-thread]: the one thread that runs batches of the session. [any-thread]: any, at any time.
 *  - Strings and arrays reachable from the table are static. What a call hands out through a sink
 * is valid during the sink's call only.
 *  - Units are in the names. Times are of the transport's own clock (CLOCK_MONOTONIC, but virtual
 *    in a simulated transport).
 *  - No call throws, exits, or writes to standard output.
 */
#ifndef NETBENCH_TRANSPORTS_ABI_NB_TRANSPORT_H_
#define NETBENCH_TRANSPORTS_ABI_NB_TRANSPORT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NB_ABI_VERSION 1u
#define NB_TRANSPORT_ENTRY_SYMBOL "nb_transport_entry_v1"

/* True where `object`, as filled by the other side, is large enough to contain `member`. */
#define NB_HAS(type, object, member) \
  ((object)->struct_size >= offsetof(type, member) + sizeof((object)->member))

#define NB_TOKEN_BYTES 16
/* Number of a tunable whose level is `auto`: leave the choice to the kernel or the device. */
#define NB_AUTO INT64_MIN

typedef enum nb_status {
  NB_OK = 0,
  NB_UNAVAILABLE = 1, /* not usable on this host; the reason is in nb_error: a normal answer */
  NB_INVALID = 2,     /* a value or combination that cannot be; the message names the tunable */
  NB_FAILED = 3,      /* the operating system or the device refused */
  NB_TIMED_OUT = 4,
  NB_PEER_CLOSED = 5, /* the other end went away */
  NB_CANCELLED = 6
} nb_status;

/* Filled by a failing call where the caller gave one (the pointer may be null). */
typedef struct nb_error {
  size_t struct_size;
  nb_status status;
  int32_t sys_errno; /* 0 where none */
  char slug[40];     /* stable, `tcp-connect-refused` */
  char message[512]; /* what was tried, on what, what happened */
  char remedy[256];  /* what to do next; may be empty */
} nb_error;

typedef enum nb_role { NB_INITIATOR = 0, NB_RESPONDER = 1 } nb_role;

/* forward: the initiator sends. Only streams and rates have a direction. */
typedef enum nb_direction { NB_FORWARD = 1, NB_REVERSE = 2, NB_BOTH = 4 } nb_direction;

typedef enum nb_pattern {
  NB_PING_PONG = 0,  /* the initiator's run() returns one time per operation, in samples_ns */
  NB_STREAM = 1,     /* a receiving end's run() returns the bytes of one window */
  NB_COLLECTIVE = 2, /* every rank's run() returns one time per operation */
  NB_RATE = 3        /* as NB_STREAM; the headline is messages per second */
} nb_pattern;

typedef struct nb_workload {
  size_t struct_size;
  const char* name;    /* `latency` */
  const char* summary; /* one line */
  nb_pattern pattern;
  uint32_t directions; /* bits of nb_direction; 0 where it has none */
  int64_t min_message_bytes;
  int64_t max_message_bytes;
  const char* default_sizes; /* levels of the default plan, "64,1K,64K" */
  const char* quick_sizes;   /* levels of the quick plan */
} nb_workload;

typedef enum nb_type {
  NB_TYPE_INTEGER = 0,
  NB_TYPE_BOOLEAN = 1,
  NB_TYPE_CHOICE = 2,
  NB_TYPE_TEXT = 3
} nb_type;
typedef enum nb_unit {
  NB_UNIT_NONE = 0,
  NB_UNIT_BYTES = 1,
  NB_UNIT_NANOSECONDS = 2,
  NB_UNIT_BITS_PER_SECOND = 3,
  NB_UNIT_COUNT = 4
} nb_unit;
typedef enum nb_scale { NB_SCALE_LINEAR = 0, NB_SCALE_POWER_OF_TWO = 1 } nb_scale;
typedef enum nb_scope { NB_SCOPE_CONNECTION = 0, NB_SCOPE_PROCESS = 1, NB_SCOPE_HOST = 2 } nb_scope;

typedef struct nb_choice {
  const char* name;
  const char* help;
} nb_choice;

#define NB_TUNABLE_ALLOWS_AUTO 1u /* `auto` is a legal level */

typedef struct nb_tunable {
  size_t struct_size;
  const char* name; /* `sndbuf`; on the command line `--tcp.sndbuf`, in JSON `tcp.sndbuf` */
  const char* help; /* one line */
  nb_type type;
  nb_unit unit;
  nb_scale scale;
  nb_scope scope;
  uint32_t flags;
  int64_t minimum; /* integers */
  int64_t maximum;
  int64_t default_number;   /* integer, boolean 0/1, index of a choice, or NB_AUTO */
  const char* default_text; /* NB_TYPE_TEXT only */
  const nb_choice* choices; /* NB_TYPE_CHOICE only */
  size_t choice_count;
  uint64_t workloads;       /* bit i: applies to workloads[i]; 0 = to all */
  const char* sweep;        /* further levels of the default plan, "256K,4M", or null */
  uint64_t sweep_workloads; /* bit i: that plan sweeps it in workloads[i]; 0: wherever it applies */
} nb_tunable;

/* One requested value; absent tunables have their default. */
typedef struct nb_value {
  const char* name;
  int64_t number;   /* as default_number */
  const char* text; /* NB_TYPE_TEXT, else null */
} nb_value;

/* Opaque address of an end, carried by the control channel: at most 64 KiB. */
typedef struct nb_blob {
  const uint8_t* data;
  size_t size;
} nb_blob;

typedef struct nb_host nb_host;

/* What the harness offers to a plug-in. Valid from the first call until the process ends. */
struct nb_host {
  size_t struct_size;
  void* context;
  /* level: 0 error, 1 warning, 2 info, 3 debug. [any-thread], never between start and stop of a
   * batch. */
  void (*log)(const nb_host* host, int level, const char* text);
  /* Optional service by string id, or null. [any-thread] */
  const void* (*extension)(const nb_host* host, const char* id);
};

/* Host extension "nb.rendezvous/1": data connections over the agent's one TCP port.
 * The responder issues tokens and puts them into its blob; the initiator connects to the agent's
 * address, writes the 4 bytes "NBD1" and the 16-byte token, and owns the socket from then on; the
 * responder takes the accepted socket by its token. A token works once. */
#define NB_RENDEZVOUS_ID "nb.rendezvous/1"
#define NB_DATA_MAGIC "NBD1"
typedef struct nb_rendezvous {
  size_t struct_size;
  /* [control-thread] Responder only. */
  nb_status (*issue_token)(const nb_host* host, uint8_t token[NB_TOKEN_BYTES]);
  /* Waits for the connection of `token`; ownership of *fd (blocking mode) passes to the caller.
   * NB_TIMED_OUT after timeout_ns. [control-thread] */
  nb_status (*take_connection)(const nb_host* host, const uint8_t token[NB_TOKEN_BYTES],
                               int64_t timeout_ns, int* fd);
  /* The listening socket, borrowed: set receive buffer, MSS and congestion control on it before the
   * initiator connects; the harness restores them when the point's connections are made.
   * -1 where there is none. [control-thread] */
  int (*listener)(const nb_host* host);
} nb_rendezvous;

/* Host extension "nb.datagram_rendezvous/1": UDP sockets over the agent's one UDP port, which has
 * the number of its TCP port. The responder issues a token for each socket and puts them into its
 * blob; the initiator sends the 4 bytes "NBU1" and the 16-byte token from each of its sockets to
 * the agent's address, again and again until the responder answers it there; the responder takes a
 * socket of its own for that source. A token works once. The host never answers by itself. */
#define NB_DATAGRAM_RENDEZVOUS_ID "nb.datagram_rendezvous/1"
#define NB_DATAGRAM_MAGIC "NBU1"
typedef struct nb_datagram_rendezvous {
  size_t struct_size;
  /* [control-thread] Responder only. */
  nb_status (*issue_token)(const nb_host* host, uint8_t token[NB_TOKEN_BYTES]);
  /* Waits for a datagram with `token` and makes a socket bound to the agent's port and connected to
   * its source; ownership of *fd (blocking mode) passes to the caller. `local_address` (struct
   * sockaddr, as nb_open_args.local_address) is the source address to use; with 0 bytes the route
   * decides. NB_TIMED_OUT after timeout_ns: the token stays good. [control-thread] */
  nb_status (*take_peer)(const nb_host* host, const uint8_t token[NB_TOKEN_BYTES],
                         const void* local_address, size_t local_address_bytes, int64_t timeout_ns,
                         int* fd);
} nb_datagram_rendezvous;

/* Receives what a call has to tell; names are under the transport's own namespace. */
typedef struct nb_sink {
  size_t struct_size;
  void* context;
  /* A counter or a number: `tcp_info.total_retrans`. */
  void (*number)(void* context, const char* name, double value);
  void (*text)(void* context, const char* name, const char* value);
} nb_sink;

#define NB_EFFECTIVE_CAPPED                                             \
  1u /* less than asked for; `note` names the limit and how to raise it \
      */

/* Receives the effective value of each tunable of this end. */
typedef struct nb_effective_sink {
  size_t struct_size;
  void* context;
  /* `text` for NB_TYPE_TEXT and choices, else null. `note` may be null. */
  void (*value)(void* context, const char* name, int64_t number, const char* text, uint32_t flags,
                const char* note);
} nb_effective_sink;

typedef struct nb_open_args {
  size_t struct_size;
  nb_role role;
  uint32_t workload; /* index in nb_transport.workloads */
  nb_direction direction;
  int64_t message_bytes;
  const nb_value* values;
  size_t value_count;
  uint64_t seed;
  /* Initiator: the agent's address and port (struct sockaddr). Responder: the initiator's address
   * as the control channel sees it. */
  const void* peer_address;
  size_t peer_address_bytes;
  const void* local_address; /* this end of the control channel (struct sockaddr) */
  size_t local_address_bytes;
  int64_t deadline_ns; /* open and connect together may take this long */
} nb_open_args;

typedef struct nb_batch {
  size_t struct_size;
  /* Operations to time (NB_PING_PONG initiator); 0: serve until the peer stops, or cancel/stop. */
  int64_t iterations;
  /* A receiving stream end: length of the window to observe. A sending end: 0 = until stop. */
  int64_t duration_ns;
} nb_batch;

typedef struct nb_batch_result {
  size_t struct_size;
  uint64_t* samples_ns;   /* in: caller's array; out: filled with one time per operation */
  size_t sample_capacity; /* in */
  size_t sample_count;    /* out */
  int64_t bytes;          /* out: payload bytes this end received in the batch */
  int64_t messages;       /* out: whole messages this end received in the batch */
  int64_t begin_ns;       /* out: of the transport's clock */
  int64_t end_ns;         /* out; end_ns - begin_ns is the batch's length */
} nb_batch_result;

typedef struct nb_session nb_session; /* the plug-in's own */

typedef struct nb_transport {
  size_t struct_size;
  uint32_t abi_version; /* NB_ABI_VERSION */
  const char* name;     /* `tcp` */
  const char* summary;
  const char* version;
  const nb_workload* workloads;
  size_t workload_count;
  const nb_tunable* tunables;
  size_t tunable_count;

  /* Usable here? Emits devices and facts. NB_UNAVAILABLE with the reason is a normal answer.
   * Must return within a second. [control-thread] */
  nb_status (*probe)(const nb_host* host, const nb_sink* sink, nb_error* error);

  /* Legality across tunables, before anything is opened; NB_INVALID names the tunable.
   * [control-thread] */
  nb_status (*check)(const nb_open_args* args, nb_error* error);

  /* Makes this end of a point: sockets, memory, threads. *session is owned by the caller, who gives
   * it back with close(). [control-thread] */
  nb_status (*open)(const nb_host* host, const nb_open_args* args, nb_session** session,
                    nb_error* error);

  /* This end's address for the other; valid until the session's next call. The responder describes
   * first. [control-thread] */
  nb_status (*describe)(nb_session* session, nb_blob* blob, nb_error* error);

  /* Connects to the described peers (one for a pair). Both ends are in connect() at the same time.
   * [control-thread] */
  nb_status (*connect)(nb_session* session, const nb_blob* peers, size_t peer_count,
                       nb_error* error);

  /* Effective values, valid once connected. [control-thread] */
  nb_status (*effective)(nb_session* session, const nb_effective_sink* sink, nb_error* error);

  /* One line on how a number of this session comes about ("blocking recv; bytes counted by the
   * receiver's kernel"); owned by the session. [control-thread] */
  const char* (*method)(nb_session* session);

  /* One batch. A stream goes on between the batches of one session: run() of a receiving end only
   * waits for the end of a window and reads the counters. [io-thread] */
  nb_status (*run)(nb_session* session, const nb_batch* batch, nb_batch_result* result,
                   nb_error* error);

  /* Orderly end, called on both ends at about the same time: a sending end stops sending and says
   * so to its peer, a receiving end takes what is still under way. Returns when both is done or
   * after timeout_ns (NB_TIMED_OUT). A run() in progress on the [io-thread] returns NB_OK or
   * NB_CANCELLED. [control-thread] */
  nb_status (*stop)(nb_session* session, int64_t timeout_ns, nb_error* error);

  /* Makes run(), connect() and stop() return within 100 ms, with NB_CANCELLED. [any-thread] */
  void (*cancel)(nb_session* session);

  /* Totals since connect: must contain `payload.sent_bytes` and `payload.received_bytes`, and
   * whatever the transport knows beside. May be called while run() is in progress, and after
   * stop(). [control-thread] */
  nb_status (*counters)(nb_session* session, const nb_sink* sink, nb_error* error);

  /* Gives everything back; never fails; no run() may be in progress. [control-thread] */
  void (*close)(nb_session* session);

  /* Optional capability by string id, or null. [any-thread] */
  const void* (*extension)(const char* id);
} nb_transport;

#ifdef __cplusplus
}
#endif

#endif /* NETBENCH_TRANSPORTS_ABI_NB_TRANSPORT_H_ */
