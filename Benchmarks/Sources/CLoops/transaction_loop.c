#include "transaction_loop.h"
#include "clients.h"
#include "loop_rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  rd_kafka_t *consumer;
  /// Used alternately: one begins the next transaction while the other's markers are being written.
  loop_producer producers[2];
  rd_kafka_message_t **messages;
  int message_count;
  /// NULL: there are none.
  loop_rows *rows;
  const transaction_loop_settings *settings;
  /// Room for one record of output, filled with text of the record that caused it.
  char *output;
  failure_text failure;
} loop_state;

/// As in Sources/Runtime/Kafka/ClientConfiguration.swift and KafkaStreamIO.
static const loop_property consumer_properties[] = {{"enable.auto.commit", "false"},
                                                    {"enable.auto.offset.store", "false"},
                                                    {"isolation.level", "read_committed"},
                                                    {"auto.offset.reset", "earliest"},
                                                    {"partition.assignment.strategy", "range"},
                                                    {"fetch.wait.max.ms", "50"},
                                                    {"queued.min.messages", "100000"},
                                                    {"queued.max.messages.kbytes", "65536"},
                                                    {0}};

static int open_clients(loop_state *state, const transaction_loop_settings *settings) {
  const loop_property group[] = {{"group.id", settings->group}, {0}};
  state->consumer =
      loop_client(&state->failure, RD_KAFKA_CONSUMER, settings->bootstrap_servers, consumer_properties, group);
  if (!state->consumer) return -1;
  rd_kafka_poll_set_consumer(state->consumer);
  const char *outputs[] = {settings->output, settings->changelog};
  for (int number = 0; number < 2; number++) {
    char transactional_id[256];
    snprintf(transactional_id, sizeof transactional_id, "%s-%d", settings->transactional_id, number);
    const loop_property identity[] = {{"transactional.id", transactional_id}, {0}};
    if (loop_producer_open(&state->producers[number], &state->failure, settings->bootstrap_servers, identity, outputs,
                           settings->changelog ? 2 : 1))
      return -1;
  }
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, settings->input, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t code = rd_kafka_subscribe(state->consumer, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  return code ? loop_fail(&state->failure, "subscribe", rd_kafka_err2str(code)) : 0;
}

/// Waits for one record, then takes all records in the queue. rd_kafka_consume_batch_queue may lose some.
static void poll_batch(loop_state *state, int batch) {
  state->message_count = 0;
  int timeout = 100;
  rd_kafka_message_t *message;
  while (state->message_count < batch && (message = rd_kafka_consumer_poll(state->consumer, timeout))) {
    if (message->err) {
      rd_kafka_message_destroy(message);
      continue;
    }
    timeout = 0;
    state->messages[state->message_count++] = message;
  }
}

static int produce(loop_state *state, loop_producer *producer, int topic, int partition, const void *key,
                   size_t key_length, const void *value, size_t length) {
  rd_kafka_resp_err_t code;
  while ((code = rd_kafka_producev(producer->client, RD_KAFKA_V_RKT(producer->topics[topic]),
                                   RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                   RD_KAFKA_V_VALUE((void *)value, length), RD_KAFKA_V_KEY((void *)key, key_length),
                                   RD_KAFKA_V_END))) {
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return loop_fail(&state->failure, "produce", rd_kafka_err2str(code));
    rd_kafka_poll(producer->client, 10);
  }
  return 0;
}

/// Each topic gets the record.
static int copy(loop_state *state, loop_producer *producer, const rd_kafka_message_t *message) {
  for (int topic = 0; topic < producer->topic_count; topic++) {
    if (produce(state, producer, topic, message->partition, message->key, message->key_len, message->payload,
                message->len))
      return -1;
  }
  return 0;
}

/// A row is read and changed; two records and the row are written.
static int decide(loop_state *state, loop_producer *producer, const rd_kafka_message_t *message) {
  const transaction_loop_settings *settings = state->settings;
  const loop_row *row = loop_rows_change(state->rows, &state->failure,
                                         (unsigned long)message->offset * 4096 + (unsigned long)message->partition);
  if (!row) return -1;
  for (int place = 0; place < 2; place++) {
    // Text of this record, so that it is compressed as records are.
    size_t length = (size_t)settings->output_bytes[place], filled = 0;
    while (filled < length) {
      size_t part = message->len < length - filled ? message->len : length - filled;
      memcpy(state->output + filled, message->payload, part);
      filled += part;
    }
    if (produce(state, producer, 0, message->partition, row->key, (size_t)row->key_length, state->output, length))
      return -1;
  }
  return produce(state, producer, 1, message->partition, row->key, (size_t)row->key_length, row->value,
                 (size_t)settings->row_bytes);
}

static int transaction(loop_state *state, long number) {
  loop_producer *producer = &state->producers[number % 2];
  if (loop_check(&state->failure, "begin", rd_kafka_begin_transaction(producer->client))) return -1;
  rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(16);
  for (int index = 0; index < state->message_count; index++) {
    rd_kafka_message_t *message = state->messages[index];
    if (state->rows ? decide(state, producer, message) : copy(state, producer, message)) {
      rd_kafka_topic_partition_list_destroy(offsets);
      return -1;
    }
    const char *name = rd_kafka_topic_name(message->rkt);
    rd_kafka_topic_partition_t *offset = rd_kafka_topic_partition_list_find(offsets, name, message->partition);
    if (!offset) offset = rd_kafka_topic_partition_list_add(offsets, name, message->partition);
    offset->offset = message->offset + 1;
  }
  rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(state->consumer);
  int failed = loop_check(&state->failure, "send offsets",
                          rd_kafka_send_offsets_to_transaction(producer->client, offsets, group, 10000));
  rd_kafka_consumer_group_metadata_destroy(group);
  rd_kafka_topic_partition_list_destroy(offsets);
  if (failed || loop_check(&state->failure, "commit", rd_kafka_commit_transaction(producer->client, 10000))) return -1;
  return state->rows ? loop_rows_store(state->rows, &state->failure) : 0;
}

static int run(loop_state *state, const transaction_loop_settings *settings, transaction_loop_result *result) {
  double started = 0, cpu_started = 0;
  double last_record = loop_seconds();
  while (result->records < settings->records) {
    poll_batch(state, settings->batch);
    double now = loop_seconds();
    if (!state->message_count) {
      if (now - last_record > 60) return loop_fail(&state->failure, "consume", "no record for 60 s");
      continue;
    }
    last_record = now;
    if (!started && result->records >= settings->unmeasured) {
      started = now;
      cpu_started = loop_cpu_seconds();
      result->unmeasured = result->records;
    }
    int failed = transaction(state, result->transactions);
    for (int index = 0; index < state->message_count; index++) rd_kafka_message_destroy(state->messages[index]);
    if (failed) return -1;
    if (settings->latencies && result->transactions < settings->latencies_capacity)
      settings->latencies[result->transactions] = (loop_seconds() - now) * 1e3;
    result->transactions++;
    result->records += state->message_count;
  }
  result->seconds = loop_seconds() - started;
  result->cpu_seconds = loop_cpu_seconds() - cpu_started;
  return 0;
}

int transaction_loop(const transaction_loop_settings *settings, transaction_loop_result *result, char *error,
                     size_t error_size) {
  loop_state state = {.settings = settings, .failure = {error, error_size}};
  memset(result, 0, sizeof *result);
  state.messages = calloc((size_t)settings->batch, sizeof *state.messages);
  int failed = 0;
  if (settings->database) {
    int longest = settings->output_bytes[0] > settings->output_bytes[1] ? settings->output_bytes[0] : settings->output_bytes[1];
    state.output = calloc((size_t)longest + 1, 1);
    state.rows =
        loop_rows_open(&state.failure, settings->database, settings->people, settings->row_bytes, settings->batch);
    failed = state.rows ? 0 : -1;
  }
  failed = failed || open_clients(&state, settings) || run(&state, settings, result) ? -1 : 0;
  free(state.messages);
  free(state.output);
  loop_rows_close(state.rows);
  for (int number = 0; number < 2; number++) loop_producer_close(&state.producers[number]);
  if (state.consumer) {
    rd_kafka_consumer_close(state.consumer);
    rd_kafka_destroy(state.consumer);
  }
  return failed;
}
