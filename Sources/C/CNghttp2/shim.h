#pragma once
#include <nghttp2/nghttp2.h>
// What a server built on nghttp2 waits with; Swift's Glibc module leaves these out.
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
