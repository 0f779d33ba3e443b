#pragma once
#include <stdint.h>
#include <stdarg.h>
#include <sys/types.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <microhttpd.h>

/* MHD_start_daemon takes its options as variadic arguments, which Swift cannot pass: these are the options Nudge uses.
 * `cls` goes to all callbacks. The listening socket is bound by the caller, so that errors can name what is wrong. */
static inline struct MHD_Daemon *nudge_mhd_start(
    int listening_socket, unsigned int connections, unsigned int idle_seconds, MHD_AccessHandlerCallback on_request,
    void *(*on_request_line)(void *cls, const char *uri, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback on_completed, MHD_NotifyConnectionCallback on_connection, void *cls) {
  /* One thread with epoll on Linux; suspended connections cost it nothing. */
  const unsigned int flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  return MHD_start_daemon(flags, 0, NULL, NULL, on_request, cls, MHD_OPTION_LISTEN_SOCKET, listening_socket,
                          MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
                          MHD_OPTION_URI_LOG_CALLBACK, on_request_line, cls, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
                          cls, MHD_OPTION_NOTIFY_CONNECTION, on_connection, cls, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                          MHD_OPTION_END);
}

/* The peer's address; NULL if it is not known. Lives as long as the connection. */
static inline const struct sockaddr *nudge_mhd_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

/* The size of the request's head in bytes, from its method to the end of its blank line; 0 if it is not known. */
static inline size_t nudge_mhd_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

/* The connection's socket; -1 if it is not known. */
static inline int nudge_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}
