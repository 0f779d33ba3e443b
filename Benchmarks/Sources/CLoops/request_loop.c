#include "request_loop.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { max_sockets = 1024 };

typedef struct {
  const request_loop_settings *settings;
  CURLM *multi;
  struct curl_slist *headers;
  CURL **handles;
  int handle_count;
  long started;
  int sockets[max_sockets];
  int socket_count;
} loop_state;

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t discard(char *bytes, size_t size, size_t count, void *user) {
  (void)bytes;
  (void)user;
  return size * count;
}

static int remember_socket(void *user, curl_socket_t descriptor, curlsocktype purpose) {
  (void)purpose;
  loop_state *loop = user;
  // The system reuses the number of a closed connection, which is in the list already.
  for (int index = 0; index < loop->socket_count; index++) {
    if (loop->sockets[index] == descriptor) return CURL_SOCKOPT_OK;
  }
  if (loop->socket_count < max_sockets) loop->sockets[loop->socket_count++] = descriptor;
  return CURL_SOCKOPT_OK;
}

/// The system refuses the descriptor of a closed socket, which does no harm.
static void set_cork(const loop_state *loop, int on) {
  for (int index = 0; index < loop->socket_count; index++) {
    setsockopt(loop->sockets[index], IPPROTO_TCP, TCP_CORK, &on, sizeof on);
  }
}

static CURL *make_handle(loop_state *loop) {
  CURL *handle = curl_easy_init();
  if (!handle) return NULL;
  curl_easy_setopt(handle, CURLOPT_URL, loop->settings->url);
  curl_easy_setopt(handle, CURLOPT_CAINFO, loop->settings->ca_file);
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 15000L);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, loop->headers);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, loop->settings->body);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)strlen(loop->settings->body));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, remember_socket);
  curl_easy_setopt(handle, CURLOPT_SOCKOPTDATA, loop);
  return handle;
}

static void take_answers(loop_state *loop, request_loop_result *result) {
  int rest = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(loop->multi, &rest))) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *handle = message->easy_handle;
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result == CURLE_OK && status == 200) {
      result->answered++;
    } else {
      result->failed++;
    }
    curl_multi_remove_handle(loop->multi, handle);
    if (loop->started < loop->settings->requests) {
      loop->started++;
      curl_multi_add_handle(loop->multi, handle);
    }
  }
}

static void end(loop_state *loop) {
  for (int index = 0; index < loop->handle_count; index++) {
    curl_multi_remove_handle(loop->multi, loop->handles[index]);
    curl_easy_cleanup(loop->handles[index]);
  }
  free(loop->handles);
  curl_slist_free_all(loop->headers);
  if (loop->multi) curl_multi_cleanup(loop->multi);
}

int request_loop(const request_loop_settings *settings, request_loop_result *result, char *error, size_t error_size) {
  memset(result, 0, sizeof *result);
  loop_state loop = {.settings = settings};
  loop.multi = curl_multi_init();
  loop.handles = calloc((size_t)settings->in_flight, sizeof *loop.handles);
  if (!loop.multi || !loop.handles) {
    snprintf(error, error_size, "out of memory");
    end(&loop);
    return -1;
  }
  curl_multi_setopt(loop.multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
  curl_multi_setopt(loop.multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)settings->connections);
  curl_multi_setopt(loop.multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100L);
  for (const char *const *line = settings->headers; *line; line++) {
    loop.headers = curl_slist_append(loop.headers, *line);
  }
  double start = seconds_of(CLOCK_MONOTONIC);
  double start_cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  while (loop.handle_count < settings->in_flight && loop.started < settings->requests) {
    CURL *handle = make_handle(&loop);
    if (!handle) {
      snprintf(error, error_size, "libcurl makes no more than %d handles", loop.handle_count);
      end(&loop);
      return -1;
    }
    loop.handles[loop.handle_count++] = handle;
    loop.started++;
    curl_multi_add_handle(loop.multi, handle);
  }
  int code = CURLM_OK;
  while (code == CURLM_OK && result->answered + result->failed < settings->requests) {
    int running = 0;
    set_cork(&loop, 1);
    code = curl_multi_perform(loop.multi, &running);
    take_answers(&loop, result);
    // Send added requests in the same round.
    if (code == CURLM_OK) code = curl_multi_perform(loop.multi, &running);
    set_cork(&loop, 0);
    take_answers(&loop, result);
    if (code == CURLM_OK && result->answered + result->failed < settings->requests) {
      code = curl_multi_poll(loop.multi, NULL, 0, 100, NULL);
    }
  }
  result->seconds = seconds_of(CLOCK_MONOTONIC) - start;
  result->cpu_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start_cpu;
  end(&loop);
  if (code != CURLM_OK) {
    snprintf(error, error_size, "libcurl: %s", curl_multi_strerror(code));
    return -1;
  }
  return 0;
}
