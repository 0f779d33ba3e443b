#pragma once
/// Gives memory that the allocator keeps unused back to the system (malloc_trim, which Swift's Glibc does not have).
void return_unused_memory(void);
