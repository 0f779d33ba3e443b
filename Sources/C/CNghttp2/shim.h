#pragma once
#include <nghttp2/nghttp2.h>
// The waiting functions for a server on nghttp2, which Swift's Glibc module lacks.
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
