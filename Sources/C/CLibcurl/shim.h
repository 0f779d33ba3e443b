#pragma once
// The checks curl's macros add to its variadic calls need constant options; the typed wrappers below check instead.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Swift cannot call C's variadic functions. One inline function for each type of argument.

static inline CURLcode nudge_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode nudge_easy_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode nudge_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode nudge_easy_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode nudge_easy_on_body(CURL *easy, size_t (*call)(char *, size_t, size_t, void *), void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, call);
  return code ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}
static inline CURLcode nudge_easy_on_sockets(CURL *easy, int (*opened)(void *, curl_socket_t, curlsocktype),
                                             int (*close)(void *, curl_socket_t)) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, opened);
  return code ? code : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
}
// Asked before each connection with the address it would go to.
static inline CURLcode nudge_easy_on_open(CURL *easy, curl_socket_t (*open)(void *, curlsocktype, struct curl_sockaddr *),
                                          void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  return code ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}
// Asked before each request is written to its connection, and before libcurl repeats one on a new connection.
static inline CURLcode nudge_easy_on_request(CURL *easy, int (*ask)(void *, char *, char *, int, int), void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, ask);
  return code ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}
static inline const void *nudge_sockaddr_bytes(const struct curl_sockaddr *address) { return &address->addr; }
static inline CURLcode nudge_easy_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode nudge_easy_get_size(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode nudge_easy_get_context(CURL *easy, void **value) {
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}
static inline CURLMcode nudge_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode nudge_multi_on_events(CURLM *multi, int (*socket)(CURL *, curl_socket_t, int, void *, void *),
                                              int (*timer)(CURLM *, long, void *), void *context) {
  CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
  if (!code) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
static inline CURLSHcode nudge_share_add(CURLSH *share, curl_lock_data data) {
  return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}
static inline curl_version_info_data *nudge_version_info(void) {
  return curl_version_info(CURLVERSION_NOW);
}
