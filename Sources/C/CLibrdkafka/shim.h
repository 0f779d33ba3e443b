#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Swift cannot call C's variadic functions: those that are needed are wrapped here, with fixed parameters.

/// rd_kafka_producev with explicit partition and copied payload.
/// Without `has_key` (`has_value`) the record has none; with it, and a length of 0, it has an empty one, for which
/// librdkafka wants a pointer that is not null.
/// `timestamp` 0 means now. `headers` may be null; it is taken over only when the call succeeds.
static inline rd_kafka_resp_err_t clibrdkafka_produce(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition,
    int has_key, const void *key, size_t key_length, int has_value, const void *value, size_t value_length,
    int64_t timestamp, rd_kafka_headers_t *headers, void *opaque) {
  if (has_key && !key) key = "";
  if (has_value && !value) value = "";
  if (headers)
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, key_length),
        RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_TIMESTAMP(timestamp),
        RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
  return rd_kafka_producev(
      client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, key_length),
      RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_TIMESTAMP(timestamp),
      RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

/// rd_kafka_mock_broker_push_request_error_rtts with one error and one delay, pushed `count` times.
static inline rd_kafka_resp_err_t clibrdkafka_mock_push_error(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api_key,
    rd_kafka_resp_err_t error, int delay_ms) {
  return rd_kafka_mock_broker_push_request_error_rtts(
      cluster, broker, api_key, 1, (int)error, delay_ms);
}
