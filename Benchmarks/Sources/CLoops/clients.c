#include "clients.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

int loop_fail(failure_text *failure, const char *operation, const char *reason) {
  snprintf(failure->text, failure->size, "%s: %s", operation, reason);
  return -1;
}

int loop_check(failure_text *failure, const char *operation, rd_kafka_error_t *error) {
  if (!error) return 0;
  loop_fail(failure, operation, rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
  return -1;
}

double loop_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double loop_cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Without a report callback nothing wakes the flush inside a commit, which then sleeps 10 ms at a time.
static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
  (void)client, (void)message, (void)opaque;
}

/// As in Sources/Runtime/Kafka/ClientConfiguration.swift, but log errors only (3): requests to a broker that is still loading its
/// coordinators are retried.
static const loop_property common_properties[] = {{"socket.nagle.disable", "true"},
                                                  {"socket.keepalive.enable", "true"},
                                                  {"reconnect.backoff.max.ms", "1000"},
                                                  {"log_level", "3"},
                                                  {0}};
static const loop_property producer_properties[] = {{"enable.idempotence", "true"},
                                                    {"linger.ms", "50"},
                                                    {"batch.num.messages", "100000"},
                                                    {"queue.buffering.max.messages", "1000000"},
                                                    {"queue.buffering.max.kbytes", "262144"},
                                                    {"partitioner", "murmur2_random"},
                                                    {"transaction.timeout.ms", "5000"},
                                                    {"retry.backoff.ms", "2"},
                                                    {"message.max.bytes", "4194304"},
                                                    {0}};

static int set_all(failure_text *failure, rd_kafka_conf_t *configuration, const loop_property *properties) {
  char reason[512];
  for (; properties->name; properties++)
    if (rd_kafka_conf_set(configuration, properties->name, properties->value, reason, sizeof reason))
      return loop_fail(failure, "configure", reason);
  return 0;
}

rd_kafka_t *loop_client(failure_text *failure, rd_kafka_type_t type, const char *bootstrap_servers,
                        const loop_property *properties, const loop_property *own) {
  char reason[512];
  rd_kafka_conf_t *configuration = rd_kafka_conf_new();
  const loop_property servers[] = {{"bootstrap.servers", bootstrap_servers}, {0}};
  if (set_all(failure, configuration, servers) || set_all(failure, configuration, common_properties) ||
      set_all(failure, configuration, properties) || set_all(failure, configuration, own)) {
    rd_kafka_conf_destroy(configuration);
    return NULL;
  }
  if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(configuration, delivered);
  rd_kafka_t *client = rd_kafka_new(type, configuration, reason, sizeof reason);
  if (!client) {
    loop_fail(failure, "make a client", reason);
    rd_kafka_conf_destroy(configuration);
  }
  return client;
}

int loop_producer_open(loop_producer *producer, failure_text *failure, const char *bootstrap_servers,
                       const loop_property *own, const char *const *topics, int topic_count) {
  producer->client = loop_client(failure, RD_KAFKA_PRODUCER, bootstrap_servers, producer_properties, own);
  if (!producer->client) return -1;
  if (loop_check(failure, "init transactions", rd_kafka_init_transactions(producer->client, 30000))) return -1;
  producer->topics = calloc((size_t)topic_count, sizeof *producer->topics);
  // Without this the first transaction waits for a timer of 1 s: the leaders of its topics are not known yet.
  for (int index = 0; index < topic_count; index++) {
    producer->topics[index] = rd_kafka_topic_new(producer->client, topics[index], NULL);
    producer->topic_count++;
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(producer->client, 0, producer->topics[index], &metadata, 5000);
    if (code) return loop_fail(failure, "ask for metadata", rd_kafka_err2str(code));
    rd_kafka_metadata_destroy(metadata);
  }
  return 0;
}

void loop_producer_close(loop_producer *producer) {
  for (int index = 0; index < producer->topic_count; index++) rd_kafka_topic_destroy(producer->topics[index]);
  free(producer->topics);
  if (producer->client) rd_kafka_destroy(producer->client);
  *producer = (loop_producer){0};
}
