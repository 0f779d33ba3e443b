#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// CRC-32C (Castagnoli) of `length` bytes, with the processor's instruction where it has one.
/// `crc`: the sum of what came before; 0 to begin.
uint32_t nudge_crc32c(uint32_t crc, const void *bytes, size_t length);

/// The same from a table, on any processor; what the instruction is tested against.
uint32_t nudge_crc32c_table(uint32_t crc, const void *bytes, size_t length);

#ifdef __cplusplus
}
#endif
