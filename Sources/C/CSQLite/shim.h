#pragma once
#include <sqlite3.h>
#include <stddef.h>

/// Binds memory of the caller's that stays valid while the statement is stepped. SQLITE_STATIC is a cast macro, which Swift does not import.
/// An empty blob has no address to bind, and a null address would bind NULL: hence zeroblob(0).
static inline int nudge_sqlite3_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob64(statement, index, bytes, (sqlite3_uint64)count, SQLITE_STATIC);
}

/// As above for UTF-8 text. The count is in bytes, so that a NUL inside stays part of the text.
static inline int nudge_sqlite3_bind_text_static(sqlite3_stmt *statement, int index, const char *bytes, size_t count) {
  return sqlite3_bind_text64(statement, index, count == 0 ? "" : bytes, (sqlite3_uint64)count, SQLITE_STATIC, SQLITE_UTF8);
}
