#pragma once
#include <librdkafka/rdkafka.h>
#include <stddef.h>

// Functions shared by the loops on librdkafka. Those that can fail return -1 or NULL, with the reason in a failure_text.

typedef struct {
  char *text;
  size_t size;
} failure_text;

/// Stores the operation and the reason; returns -1.
int loop_fail(failure_text *failure, const char *operation, const char *reason);
/// Returns 0 for no error; else -1, and frees the error.
int loop_check(failure_text *failure, const char *operation, rd_kafka_error_t *error);

/// CLOCK_MONOTONIC.
double loop_seconds(void);
/// CPU seconds of the whole process.
double loop_cpu_seconds(void);

typedef struct {
  const char *name;
  const char *value;
} loop_property;

/// A client with these properties; lists end with an empty name, later ones win.
rd_kafka_t *loop_client(failure_text *failure, rd_kafka_type_t type, const char *bootstrap_servers,
                        const loop_property *properties, const loop_property *own);

/// A transactional producer, and a handle for each of its topics, whose leaders are known.
typedef struct {
  rd_kafka_t *client;
  rd_kafka_topic_t **topics;
  int topic_count;
} loop_producer;

/// Opens a producer; `own` has its `transactional.id`. Close it even if this returns -1.
int loop_producer_open(loop_producer *producer, failure_text *failure, const char *bootstrap_servers,
                       const loop_property *own, const char *const *topics, int topic_count);
void loop_producer_close(loop_producer *producer);
