#include "unused_memory.h"
#include <malloc.h>

void return_unused_memory(void) { malloc_trim(0); }
