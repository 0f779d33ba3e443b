#include "CAllocator.h"

// jemalloc reads this before main. `MALLOC_CONF` in the environment is read after it and wins.
//
// narenas:2           twenty threads share two arenas: with four a core, the default, free memory lies about in each.
// dirty_decay_ms:1000 free pages go back to the kernel within a second (ten by default).
// muzzy_decay_ms:0    and at once, not as pages that the kernel may take.
// tcache_max:8192     a thread keeps no larger blocks for itself: what a stream thread makes, a writer gives back.
const char *malloc_conf = "narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0,tcache_max:8192";
