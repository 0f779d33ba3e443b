#pragma once
#include <stddef.h>

/// A bare loop of transactions on librdkafka, by two producers in turn: records to several partitions, a flush, the offsets of the
/// first topic's partitions among them, the commit. No input, no decoding, no state: the baseline of KafkaTransactions.
typedef struct touch_loop touch_loop;

typedef struct {
  const char *bootstrap_servers;
  /// The producers' ids begin with it.
  const char *transactional_id;
  const char *const *topics;
  int topic_count;
  const char *group;
  /// The group member that commits offsets.
  const char *member;
  int generation;
  /// Bytes of a record's value.
  int record_bytes;
  /// `none` or a codec.
  const char *compression;
} touch_loop_settings;

/// Opens both producers. Returns NULL with the reason in `error`.
touch_loop *touch_loop_open(const touch_loop_settings *settings, char *error, size_t error_size);

/// Commits this many transactions, one after the other.
///
/// The records of each are spread evenly over the partitions. Partition number `i` of those touched is partition
/// `i / topic_count` of topic `i % topic_count`.
///
/// `latencies` gets the milliseconds of each, from begin to the end of its commit; `cpu_seconds` gets the process's CPU seconds.
/// Returns 0, or -1 with the reason in `error`.
int touch_loop_run(touch_loop *loop, int partitions, int records, long transactions, double *latencies,
                   double *cpu_seconds, char *error, size_t error_size);

void touch_loop_close(touch_loop *loop);
