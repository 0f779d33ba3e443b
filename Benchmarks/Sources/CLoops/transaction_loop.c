#include "transaction_loop.h"
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct {
  rd_kafka_t *client;
  rd_kafka_topic_t *topics[2];
} transaction_producer;

typedef struct {
  rd_kafka_t *consumer;
  /// Used in turn: while the markers of one's transaction are being written, the other has the next.
  transaction_producer producers[2];
  int producer_count;
  /// Topics of each producer.
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
                                               {"linger.ms", "50"},
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

static int open_producer(loop_state *state, const transaction_loop_settings *settings, int number) {
  char transactional_id[256];
  snprintf(transactional_id, sizeof transactional_id, "%s-%d", settings->transactional_id, number);
  const property identity[] = {{"transactional.id", transactional_id}, {0}};
  transaction_producer *producer = &state->producers[number];
  producer->client =
      make_client(state, RD_KAFKA_PRODUCER, settings->bootstrap_servers, producer_properties, identity);
  if (!producer->client) return -1;
  state->producer_count++;
  if (check(state, "init transactions", rd_kafka_init_transactions(producer->client, 30000))) return -1;
  // Without this the first transaction waits for a timer of 1 s: the leaders of its topics are not known yet.
  const char *names[] = {settings->output, settings->changelog};
  state->topic_count = settings->changelog ? 2 : 1;
  for (int index = 0; index < state->topic_count; index++) {
    producer->topics[index] = rd_kafka_topic_new(producer->client, names[index], NULL);
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(producer->client, 0, producer->topics[index], &metadata, 5000);
    if (code) return fail(state, "ask for metadata", rd_kafka_err2str(code));
    rd_kafka_metadata_destroy(metadata);
  }
  return 0;
}

static int open_clients(loop_state *state, const transaction_loop_settings *settings) {
  const property group[] = {{"group.id", settings->group}, {0}};
  state->consumer =
      make_client(state, RD_KAFKA_CONSUMER, settings->bootstrap_servers, consumer_properties, group);
  if (!state->consumer) return -1;
  rd_kafka_poll_set_consumer(state->consumer);
  for (int index = 0; index < 2; index++)
    if (open_producer(state, settings, index)) return -1;
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

/// What the stage writes to its changelog says which transaction it belongs to.
static rd_kafka_headers_t *changelog_headers(long transaction) {
  char tag[64];
  int size = snprintf(tag, sizeof tag, "%ld benchmark-0/mfk3q1x2c4b5/1", transaction);
  rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
  rd_kafka_header_add(headers, "nudge-transaction", -1, tag, size);
  return headers;
}

static int produce(loop_state *state, transaction_producer *producer, int topic, rd_kafka_message_t *message,
                   long transaction) {
  rd_kafka_headers_t *headers = topic == 1 ? changelog_headers(transaction) : NULL;
  rd_kafka_resp_err_t code;
  while ((code = rd_kafka_producev(producer->client, RD_KAFKA_V_RKT(producer->topics[topic]),
                                   RD_KAFKA_V_PARTITION(message->partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                   RD_KAFKA_V_VALUE(message->payload, message->len),
                                   RD_KAFKA_V_KEY(message->key, message->key_len), RD_KAFKA_V_HEADERS(headers),
                                   RD_KAFKA_V_END))) {
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      if (headers) rd_kafka_headers_destroy(headers);
      return fail(state, "produce", rd_kafka_err2str(code));
    }
    rd_kafka_poll(producer->client, 10);
  }
  return 0;
}

static int transaction(loop_state *state, long number) {
  transaction_producer *producer = &state->producers[number % state->producer_count];
  if (check(state, "begin", rd_kafka_begin_transaction(producer->client))) return -1;
  rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(16);
  for (int index = 0; index < state->message_count; index++) {
    rd_kafka_message_t *message = state->messages[index];
    for (int topic = 0; topic < state->topic_count; topic++) {
      if (produce(state, producer, topic, message, number)) {
        rd_kafka_topic_partition_list_destroy(offsets);
        return -1;
      }
    }
    const char *name = rd_kafka_topic_name(message->rkt);
    rd_kafka_topic_partition_t *offset = rd_kafka_topic_partition_list_find(offsets, name, message->partition);
    if (!offset) offset = rd_kafka_topic_partition_list_add(offsets, name, message->partition);
    offset->offset = message->offset + 1;
  }
  rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(state->consumer);
  int failed = check(state, "send offsets",
                     rd_kafka_send_offsets_to_transaction(producer->client, offsets, group, 10000));
  rd_kafka_consumer_group_metadata_destroy(group);
  rd_kafka_topic_partition_list_destroy(offsets);
  return failed ? -1 : check(state, "commit", rd_kafka_commit_transaction(producer->client, 10000));
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
    int failed = transaction(state, result->transactions);
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
  for (int index = 0; index < state.producer_count; index++) {
    for (int topic = 0; topic < 2; topic++)
      if (state.producers[index].topics[topic]) rd_kafka_topic_destroy(state.producers[index].topics[topic]);
    rd_kafka_destroy(state.producers[index].client);
  }
  if (state.consumer) {
    rd_kafka_consumer_close(state.consumer);
    rd_kafka_destroy(state.consumer);
  }
  return failed;
}
