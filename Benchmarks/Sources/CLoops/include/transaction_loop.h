#pragma once
#include <stddef.h>

/// A bare loop on librdkafka: consume a batch, produce each record to one or two topics, commit both in one transaction, by
/// two alternating producers. No decoding: the baseline of a stage on StreamRuntime. With `database`, the limit of one that decides: for each
/// record it reads a row from SQLite, changes it in place, and writes two records of the sizes of a decision and a push, and the row.
typedef struct {
  const char *bootstrap_servers;
  const char *group;
  const char *transactional_id;
  const char *input;
  const char *output;
  /// Also gets each record, as a stage's changelog gets a row, with its header; NULL for one output a record.
  const char *changelog;
  /// The file of the rows, which must not exist; NULL: there are none, and each record is written as it is.
  const char *database;
  long people;
  int row_bytes;
  /// With `database`: the sizes of the two records that are written for each.
  int output_bytes[2];
  /// The loop ends after this many records.
  long records;
  /// The first records, which are not measured.
  long unmeasured;
  /// Records of one transaction at most.
  int batch;
  /// Gets the milliseconds of each transaction, from begin to the end of its commit; NULL: not measured.
  double *latencies;
  long latencies_capacity;
} transaction_loop_settings;

/// The loop's results. CPU is the whole process's.
typedef struct {
  long records;
  /// Those before the measured ones.
  long unmeasured;
  long transactions;
  /// From the first record to the end of the last commit.
  double seconds;
  double cpu_seconds;
} transaction_loop_result;

/// Runs to its end on this thread. Returns 0, or -1 with the reason in `error`.
int transaction_loop(const transaction_loop_settings *settings, transaction_loop_result *result, char *error,
                     size_t error_size);
