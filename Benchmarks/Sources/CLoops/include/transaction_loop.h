#pragma once
#include <stddef.h>

/// A bare loop on librdkafka: consume a batch, produce each record to one or two topics, commit both in one transaction, by
/// two producers in turn. No decoding, no state; the measure of what a stage on StreamRuntime costs above it.
typedef struct {
  const char *bootstrap_servers;
  const char *group;
  const char *transactional_id;
  const char *input;
  const char *output;
  /// Also gets each record, as a stage's changelog gets a row, with its header; NULL for one output a record.
  const char *changelog;
  /// The loop ends after so many records.
  long records;
  /// Records of one transaction at most.
  int batch;
  /// Where the milliseconds of each transaction go, from begin to the end of its commit; NULL for nowhere.
  double *latencies;
  long latencies_capacity;
} transaction_loop_settings;

/// What the loop did. CPU is that of the whole process.
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
