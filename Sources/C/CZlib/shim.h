#pragma once
#include <zlib.h>

// inflateInit2 is a macro, which Swift does not see. 15 + 16: the largest window, and gzip's framing only.
static inline int czlib_inflate_init_gzip(z_streamp stream) { return inflateInit2(stream, 15 + 16); }
