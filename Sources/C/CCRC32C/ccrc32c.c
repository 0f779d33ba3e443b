#include "ccrc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#endif

// The Castagnoli polynomial, its bits reversed.
#define POLYNOMIAL 0x82f63b78u

// Row k: the sum of a byte that is followed by k zero bytes.
static uint32_t table[8][256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
    table[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; byte++) {
    for (int row = 1; row < 8; row++) {
      uint32_t crc = table[row - 1][byte];
      table[row][byte] = crc >> 8 ^ table[0][crc & 0xff];
    }
  }
}

uint32_t nudge_crc32c_table(uint32_t crc, const void *bytes, size_t length) {
  pthread_once(&table_made, make_table);
  const uint8_t *at = bytes;
  crc = ~crc;
  for (; length >= 8; at += 8, length -= 8) {
    crc = table[7][(crc ^ at[0]) & 0xff] ^ table[6][(crc >> 8 ^ at[1]) & 0xff] ^ table[5][(crc >> 16 ^ at[2]) & 0xff] ^
          table[4][crc >> 24 ^ at[3]] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
  }
  for (; length > 0; at++, length--) crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc32c_instruction(uint32_t crc, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  uint64_t sum = ~crc;
  for (; length >= 8; at += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    sum = _mm_crc32_u64(sum, word);
  }
  uint32_t rest = (uint32_t)sum;
  for (; length > 0; at++, length--) rest = _mm_crc32_u8(rest, *at);
  return ~rest;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__)

__attribute__((target("crc"))) static uint32_t crc32c_instruction(uint32_t crc, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  crc = ~crc;
  for (; length >= 8; at += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    crc = __crc32cd(crc, word);
  }
  for (; length > 0; at++, length--) crc = __crc32cb(crc, *at);
  return ~crc;
}

static int has_instruction(void) {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return 1;  // every Apple processor of this architecture has it
#endif
}

#else

static uint32_t crc32c_instruction(uint32_t crc, const void *bytes, size_t length) {
  return nudge_crc32c_table(crc, bytes, length);
}

static int has_instruction(void) { return 0; }

#endif

uint32_t nudge_crc32c(uint32_t crc, const void *bytes, size_t length) {
  return has_instruction() ? crc32c_instruction(crc, bytes, length) : nudge_crc32c_table(crc, bytes, length);
}
