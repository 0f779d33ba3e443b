#include "touch_loop.h"
#include "clients.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct touch_loop {
  /// Used alternately: one begins the next transaction while the other's markers are being written.
  loop_producer producers[2];
  rd_kafka_consumer_group_metadata_t *group;
  char *first_topic;
  char *value;
  size_t value_size;
  int topic_count;
  /// The number of transactions, which is also the committed offset.
  long transactions;
};

enum { timeout_ms = 30000 };

touch_loop *touch_loop_open(const touch_loop_settings *settings, char *error, size_t error_size) {
  failure_text failure = {error, error_size};
  touch_loop *loop = calloc(1, sizeof *loop);
  loop->topic_count = settings->topic_count;
  loop->first_topic = strdup(settings->topics[0]);
  loop->value_size = (size_t)settings->record_bytes;
  loop->value = malloc(loop->value_size);
  memset(loop->value, 'x', loop->value_size);
  loop->group =
      rd_kafka_consumer_group_metadata_new_with_genid(settings->group, settings->generation, settings->member, NULL);
  for (int number = 0; number < 2; number++) {
    char transactional_id[256];
    snprintf(transactional_id, sizeof transactional_id, "%s-%d", settings->transactional_id, number);
    const loop_property own[] = {
        {"transactional.id", transactional_id}, {"compression.type", settings->compression}, {0}};
    if (loop_producer_open(&loop->producers[number], &failure, settings->bootstrap_servers, own, settings->topics,
                           settings->topic_count)) {
      touch_loop_close(loop);
      return NULL;
    }
  }
  return loop;
}

static int produce(touch_loop *loop, loop_producer *producer, int partitions, int records, failure_text *failure) {
  for (int place = 0; place < partitions; place++) {
    int count = records / partitions + (place < records % partitions ? 1 : 0);
    for (int index = 0; index < count; index++) {
      rd_kafka_resp_err_t code = rd_kafka_producev(
          producer->client, RD_KAFKA_V_RKT(producer->topics[place % loop->topic_count]),
          RD_KAFKA_V_PARTITION(place / loop->topic_count), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_VALUE(loop->value, loop->value_size), RD_KAFKA_V_END);
      if (code) return loop_fail(failure, "produce", rd_kafka_err2str(code));
    }
  }
  rd_kafka_resp_err_t code = rd_kafka_flush(producer->client, timeout_ms);
  return code ? loop_fail(failure, "flush", rd_kafka_err2str(code)) : 0;
}

static int transaction(touch_loop *loop, int partitions, int records, failure_text *failure) {
  loop_producer *producer = &loop->producers[loop->transactions % 2];
  loop->transactions++;
  if (loop_check(failure, "begin", rd_kafka_begin_transaction(producer->client))) return -1;
  if (produce(loop, producer, partitions, records, failure)) return -1;
  rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(partitions);
  for (int place = 0; place < partitions; place += loop->topic_count)
    rd_kafka_topic_partition_list_add(offsets, loop->first_topic, place / loop->topic_count)->offset =
        loop->transactions;
  int failed = loop_check(failure, "send offsets",
                          rd_kafka_send_offsets_to_transaction(producer->client, offsets, loop->group, timeout_ms));
  rd_kafka_topic_partition_list_destroy(offsets);
  return failed ? -1 : loop_check(failure, "commit", rd_kafka_commit_transaction(producer->client, timeout_ms));
}

int touch_loop_run(touch_loop *loop, int partitions, int records, long transactions, double *latencies,
                   double *cpu_seconds, char *error, size_t error_size) {
  failure_text failure = {error, error_size};
  double cpu_started = loop_cpu_seconds();
  for (long number = 0; number < transactions; number++) {
    double started = loop_seconds();
    if (transaction(loop, partitions, records, &failure)) return -1;
    latencies[number] = (loop_seconds() - started) * 1e3;
  }
  *cpu_seconds = loop_cpu_seconds() - cpu_started;
  return 0;
}

void touch_loop_close(touch_loop *loop) {
  for (int number = 0; number < 2; number++) loop_producer_close(&loop->producers[number]);
  if (loop->group) rd_kafka_consumer_group_metadata_destroy(loop->group);
  free(loop->first_topic);
  free(loop->value);
  free(loop);
}
