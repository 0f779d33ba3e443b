#pragma once
#include <stddef.h>

/// A bare loop on librdkafka: consume a batch, produce each record to one or two topics, commit both in one transaction, by
/// two alternating producers. No decoding, no state: the baseline of a stage on StreamRuntime.
typedef struct {
  const char *bootstrap_servers;
  const char *group;
  const char *transactional_id;
  const char *input;
  const char *output;
  /// Also gets each record, as a stage's changelog gets a row, with its header; NULL for one output a record.
  const char *changelog;
  /// The loop ends after this many records.
  long records;
  /// Records of one transaction at most.
  int batch;
  /// Gets the milliseconds of each transaction, from begin to the end of its commit; NULL: not measured.
  double *latencies;
  long latencies_capacity;
} transaction_loop_settings;

/// The loop's results. CPU is the whole process's.
typedef struct {
  long records;
  long transactions;
  /// From the first record to the end of the last commit.
  double seconds;
  double cpu_seconds;
} transaction_loop_result;

/// Runs to its end on this thread. Returns 0, or -1 with the reason in `error`.
int transaction_loop(const transaction_loop_settings *settings, transaction_loop_result *result, char *error,
                     size_t error_size);
