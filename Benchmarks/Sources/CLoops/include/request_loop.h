#pragma once
#include <stddef.h>

/// A bare loop on libcurl's multi interface: one thread keeps a number of POSTs of the same body in flight until all are answered. It
/// corks its sockets before each round and uncorks them after it, so that a round's small frames leave as full segments. Nothing is
/// parsed, kept or retried: the baseline of HTTPTransport.
typedef struct {
  const char *url;
  const char *ca_file;
  /// Whole lines, as sent: `name: value`; the last is NULL.
  const char *const *headers;
  const char *body;
  /// The loop ends when this many are answered or have failed.
  long requests;
  int in_flight;
  int connections;
} request_loop_settings;

/// The loop's results. CPU is the thread's.
typedef struct {
  /// Answered with 200.
  long answered;
  /// Anything else.
  long failed;
  double seconds;
  double cpu_seconds;
} request_loop_result;

/// Runs to its end on this thread. Returns 0, or -1 with the reason in `error`.
int request_loop(const request_loop_settings *settings, request_loop_result *result, char *error, size_t error_size);
