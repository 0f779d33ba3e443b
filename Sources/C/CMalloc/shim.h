#pragma once
// glibc's own: other C libraries have no mallopt, and nothing of this.
#if defined(__linux__)
#include <malloc.h>
#endif
