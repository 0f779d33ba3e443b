// Fills a topic with records made of a template, as fast as librdkafka takes them.
//
//   fill BROKERS TOPIC KEY FIRST END STEP TOTAL PEOPLE FROM_MS UNTIL_MS < template
//
// A record each STEP-th number from FIRST on and before END. In key and template @N@ is the number, @U@ the person's number
// (spread over PEOPLE), @T@ the time in milliseconds, which goes from FROM_MS to UNTIL_MS with the numbers up to TOTAL and is
// the record's timestamp too. A character ~ in the key is a NUL. Prints partition and offset of the last record.
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static int last_partition = -1;
static int64_t last_offset = -1;

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
  (void)client;
  (void)opaque;
  if (message->err) {
    if (failures++ == 0) fprintf(stderr, "fill: %s\n", rd_kafka_err2str(message->err));
  } else if (message->_private) {
    last_partition = message->partition;
    last_offset = message->offset;
  }
}

static size_t expand(const char *template, char *out, size_t capacity, long long number, long long person, long long time) {
  size_t length = 0;
  for (const char *at = template; *at; at++) {
    if (length + 32 > capacity) {
      fprintf(stderr, "fill: the template is too long\n");
      exit(2);
    }
    if (at[0] == '@' && at[1] && at[2] == '@') {
      long long value = at[1] == 'N' ? number : at[1] == 'U' ? person : time;
      length += (size_t)sprintf(out + length, at[1] == 'T' ? "%lld" : "%08lld", value);
      at += 2;
    } else {
      out[length++] = *at;
    }
  }
  return length;
}

int main(int count, char **arguments) {
  if (count != 11) {
    fprintf(stderr, "usage: see the source\n");
    return 2;
  }
  const char *topic = arguments[2], *key = arguments[3];
  long long number[8];
  for (int index = 0; index < 7; index++) number[index] = atoll(arguments[4 + index]);
  long long first = number[0], end = number[1], step = number[2], total = number[3], people = number[4];
  long long from = number[5], until = number[6];
  static char template[65536], value[65536], name[512];
  template[fread(template, 1, sizeof template - 1, stdin)] = 0;

  char error[512];
  rd_kafka_conf_t *settings = rd_kafka_conf_new();
  const char *pairs[][2] = {
      {"bootstrap.servers", arguments[1]}, {"partitioner", "murmur2_random"}, {"compression.codec", "lz4"},
      {"linger.ms", "50"}, {"batch.size", "1000000"}, {"queue.buffering.max.messages", "500000"}, {"acks", "1"},
  };
  for (size_t index = 0; index < sizeof pairs / sizeof pairs[0]; index++) {
    if (rd_kafka_conf_set(settings, pairs[index][0], pairs[index][1], error, sizeof error) != RD_KAFKA_CONF_OK) {
      fprintf(stderr, "fill: %s\n", error);
      return 1;
    }
  }
  rd_kafka_conf_set_dr_msg_cb(settings, delivered);
  rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, settings, error, sizeof error);
  if (!client) {
    fprintf(stderr, "fill: %s\n", error);
    return 1;
  }
  for (long long at = first; at < end; at += step) {
    long long person = (long long)((uint32_t)at * 2654435761u % (uint32_t)people);
    long long time = from + (long long)((double)(until - from) * (double)at / (double)total);
    size_t length = expand(template, value, sizeof value, at, person, time);
    size_t key_length = expand(key, name, sizeof name, at, person, time);
    for (size_t index = 0; index < key_length; index++) {
      if (name[index] == '~') name[index] = 0;
    }
    void *is_last = at + step >= end ? (void *)1 : NULL;
    rd_kafka_resp_err_t refused;
    while ((refused = rd_kafka_producev(
                client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(name, key_length), RD_KAFKA_V_VALUE(value, length),
                RD_KAFKA_V_TIMESTAMP(time), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(is_last),
                RD_KAFKA_V_END)) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      rd_kafka_poll(client, 20);
    }
    if (refused) {
      fprintf(stderr, "fill: %s\n", rd_kafka_err2str(refused));
      return 1;
    }
    if (at % 1000 == 0) rd_kafka_poll(client, 0);
  }
  rd_kafka_flush(client, 120000);
  int left = rd_kafka_outq_len(client);
  rd_kafka_destroy(client);
  printf("%d %lld\n", last_partition, (long long)last_offset);
  return failures || left ? 1 : 0;
}
