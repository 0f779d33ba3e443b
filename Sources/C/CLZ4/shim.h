#pragma once
#include <lz4frame.h>
#include <string.h>

// The frame format that Kafka's readers expect: independent blocks of 64 kB. With the content size, a reader allocates just
// that; librdkafka guesses four times the frame else, and moves and grows what it has by three quarters until all is in. (Java skips the
// field.) The structure has nested fields that differ between versions of the library, so it is filled in here.
static inline LZ4F_preferences_t nudge_lz4_preferences(size_t length) {
  LZ4F_preferences_t preferences;
  memset(&preferences, 0, sizeof preferences);
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.frameInfo.contentSize = length;
  return preferences;
}

// The greatest size of the frame of this many bytes.
static inline size_t nudge_lz4_bound(size_t length) {
  LZ4F_preferences_t preferences = nudge_lz4_preferences(length);
  return LZ4F_compressFrameBound(length, &preferences);
}

// Writes one frame; 0: it cannot be compressed, and the caller sends the bytes uncompressed.
static inline size_t nudge_lz4_compress(void *target, size_t capacity, const void *bytes, size_t length) {
  LZ4F_preferences_t preferences = nudge_lz4_preferences(length);
  size_t written = LZ4F_compressFrame(target, capacity, bytes, length, &preferences);
  return LZ4F_isError(written) ? 0 : written;
}
