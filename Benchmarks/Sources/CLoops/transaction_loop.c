#include "transaction_loop.h"
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct {
  rd_kafka_t *consumer;
  rd_kafka_t *producer;
  rd_kafka_topic_t *topics[2];
  int topic_count;
  rd_kafka_message_t **messages;
  int message_count;
  char *error;
  size_t error_size;
} loop_state;

static double seconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_seconds_now(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int fail(loop_state *state, const char *operation, const char *reason) {
  snprintf(state->error, state->error_size, "%s: %s", operation, reason);
  return -1;
}

static int check(loop_state *state, const char *operation, rd_kafka_error_t *error) {
  if (!error) return 0;
  fail(state, operation, rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
  return -1;
}

/// Without a report callback nothing wakes the flush inside a commit, which then sleeps 10 ms at a time.
static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
  (void)client, (void)message, (void)opaque;
}

typedef struct {
  const char *name;
  const char *value;
} property;

/// The same as Sources/Kafka/Clients/ClientConfiguration.swift and KafkaStreamIO set.
static const property common_properties[] = {
    {"socket.nagle.disable", "true"}, {"socket.keepalive.enable", "true"}, {"reconnect.backoff.max.ms", "1000"}, {0}};
static const property consumer_properties[] = {{"enable.auto.commit", "false"},
                                               {"enable.auto.offset.store", "false"},
                                               {"isolation.level", "read_committed"},
                                               {"auto.offset.reset", "earliest"},
                                               {"partition.assignment.strategy", "range"},
                                               {"fetch.wait.max.ms", "50"},
                                               {"queued.min.messages", "100000"},
                                               {"queued.max.messages.kbytes", "65536"},
                                               {0}};
static const property producer_properties[] = {{"enable.idempotence", "true"},
                                               {"linger.ms", "1"},
                                               {"batch.num.messages", "100000"},
                                               {"queue.buffering.max.messages", "1000000"},
                                               {"queue.buffering.max.kbytes", "262144"},
                                               {"partitioner", "murmur2_random"},
                                               {"transaction.timeout.ms", "5000"},
                                               {"retry.backoff.ms", "2"},
                                               {"message.max.bytes", "4194304"},
                                               {0}};

static int set_all(loop_state *state, rd_kafka_conf_t *configuration, const property *properties) {
  char reason[512];
  for (; properties->name; properties++)
    if (rd_kafka_conf_set(configuration, properties->name, properties->value, reason, sizeof reason))
      return fail(state, "configure", reason);
  return 0;
}

static rd_kafka_t *make_client(loop_state *state, rd_kafka_type_t type, const char *bootstrap_servers,
                               const property *properties, const property *own) {
  char reason[512];
  rd_kafka_conf_t *configuration = rd_kafka_conf_new();
  const property servers[] = {{"bootstrap.servers", bootstrap_servers}, {0}};
  if (set_all(state, configuration, servers) || set_all(state, configuration, common_properties) ||
      set_all(state, configuration, properties) || set_all(state, configuration, own)) {
    rd_kafka_conf_destroy(configuration);
    return NULL;
  }
  if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(configuration, delivered);
  rd_kafka_t *client = rd_kafka_new(type, configuration, reason, sizeof reason);
  if (!client) {
    fail(state, "make a client", reason);
    rd_kafka_conf_destroy(configuration);
  }
  return client;
}

static int open_clients(loop_state *state, const transaction_loop_settings *settings) {
  const property group[] = {{"group.id", settings->group}, {0}};
  const property identity[] = {{"transactional.id", settings->transactional_id}, {0}};
  state->consumer =
      make_client(state, RD_KAFKA_CONSUMER, settings->bootstrap_servers, consumer_properties, group);
  if (!state->consumer) return -1;
  rd_kafka_poll_set_consumer(state->consumer);
  state->producer =
      make_client(state, RD_KAFKA_PRODUCER, settings->bootstrap_servers, producer_properties, identity);
  if (!state->producer) return -1;
  if (check(state, "init transactions", rd_kafka_init_transactions(state->producer, 30000))) return -1;
  // Without this the first transaction waits for a timer of 1 s: the leaders of its topics are not known yet.
  const char *names[] = {settings->output, settings->changelog};
  for (int index = 0; index < 2 && names[index]; index++) {
    state->topics[index] = rd_kafka_topic_new(state->producer, names[index], NULL);
    state->topic_count++;
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(state->producer, 0, state->topics[index], &metadata, 5000);
    if (code) return fail(state, "ask for metadata", rd_kafka_err2str(code));
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, settings->input, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t code = rd_kafka_subscribe(state->consumer, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  return code ? fail(state, "subscribe", rd_kafka_err2str(code)) : 0;
}

/// Waits for one record, then takes what is there: the way that loses none (rd_kafka_consume_batch_queue may).
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

static int transaction(loop_state *state) {
  if (check(state, "begin", rd_kafka_begin_transaction(state->producer))) return -1;
  rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(16);
  for (int index = 0; index < state->message_count; index++) {
    rd_kafka_message_t *message = state->messages[index];
    for (int topic = 0; topic < state->topic_count; topic++) {
      while (rd_kafka_produce(state->topics[topic], message->partition, RD_KAFKA_MSG_F_COPY, message->payload,
                              message->len, message->key, message->key_len, NULL)) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
          rd_kafka_topic_partition_list_destroy(offsets);
          return fail(state, "produce", rd_kafka_err2str(rd_kafka_last_error()));
        }
        rd_kafka_poll(state->producer, 10);
      }
    }
    const char *name = rd_kafka_topic_name(message->rkt);
    rd_kafka_topic_partition_t *offset = rd_kafka_topic_partition_list_find(offsets, name, message->partition);
    if (!offset) offset = rd_kafka_topic_partition_list_add(offsets, name, message->partition);
    offset->offset = message->offset + 1;
  }
  rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(state->consumer);
  int failed = check(state, "send offsets",
                     rd_kafka_send_offsets_to_transaction(state->producer, offsets, group, 10000));
  rd_kafka_consumer_group_metadata_destroy(group);
  rd_kafka_topic_partition_list_destroy(offsets);
  return failed ? -1 : check(state, "commit", rd_kafka_commit_transaction(state->producer, 10000));
}

static int run(loop_state *state, const transaction_loop_settings *settings, transaction_loop_result *result) {
  double started = 0, cpu_started = 0;
  double last_record = seconds_now();
  while (result->records < settings->records) {
    poll_batch(state, settings->batch);
    double now = seconds_now();
    if (!state->message_count) {
      if (now - last_record > 60) return fail(state, "consume", "no record for 60 s");
      continue;
    }
    last_record = now;
    if (!started) {
      started = now;
      cpu_started = cpu_seconds_now();
    }
    int failed = transaction(state);
    for (int index = 0; index < state->message_count; index++) rd_kafka_message_destroy(state->messages[index]);
    if (failed) return -1;
    if (settings->latencies && result->transactions < settings->latencies_capacity)
      settings->latencies[result->transactions] = (seconds_now() - now) * 1e3;
    result->transactions++;
    result->records += state->message_count;
  }
  result->seconds = seconds_now() - started;
  result->cpu_seconds = cpu_seconds_now() - cpu_started;
  return 0;
}

int transaction_loop(const transaction_loop_settings *settings, transaction_loop_result *result, char *error,
                     size_t error_size) {
  loop_state state = {.error = error, .error_size = error_size};
  memset(result, 0, sizeof *result);
  state.messages = calloc((size_t)settings->batch, sizeof *state.messages);
  int failed = open_clients(&state, settings) || run(&state, settings, result) ? -1 : 0;
  free(state.messages);
  for (int index = 0; index < state.topic_count; index++) rd_kafka_topic_destroy(state.topics[index]);
  if (state.producer) rd_kafka_destroy(state.producer);
  if (state.consumer) {
    rd_kafka_consumer_close(state.consumer);
    rd_kafka_destroy(state.consumer);
  }
  return failed;
}
