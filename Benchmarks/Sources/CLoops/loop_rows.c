#include "loop_rows.h"
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop_rows {
  sqlite3 *database;
  sqlite3_stmt *get, *put;
  long people;
  int row_bytes;
  loop_row *changed;
  int count, capacity;
};

static const char *const setup[] = {
    // As SQLiteTaskStore: of twelve stores with 512 KiB each, whose file only this process opens.
    "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF",
    "PRAGMA cache_size = -6144", "CREATE TABLE rows (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID", "BEGIN"};

loop_rows *loop_rows_open(failure_text *failure, const char *path, long people, int row_bytes, int batch) {
  loop_rows *rows = calloc(1, sizeof *rows);
  rows->people = people;
  rows->row_bytes = row_bytes;
  rows->capacity = batch;
  rows->changed = calloc((size_t)batch, sizeof *rows->changed);
  for (int index = 0; index < batch; index++) rows->changed[index].value = malloc((size_t)row_bytes);
  int failed = sqlite3_open(path, &rows->database);
  for (size_t index = 0; !failed && index < sizeof setup / sizeof *setup; index++)
    failed = sqlite3_exec(rows->database, setup[index], 0, 0, 0);
  if (!failed) failed = sqlite3_prepare_v2(rows->database, "SELECT value FROM rows WHERE key = ?", -1, &rows->get, 0);
  if (!failed)
    failed = sqlite3_prepare_v2(rows->database, "INSERT OR REPLACE INTO rows VALUES (?, ?)", -1, &rows->put, 0);
  if (!failed) return rows;
  loop_fail(failure, "open the rows", sqlite3_errmsg(rows->database));
  loop_rows_close(rows);
  return NULL;
}

void loop_rows_close(loop_rows *rows) {
  if (!rows) return;
  sqlite3_finalize(rows->get);
  sqlite3_finalize(rows->put);
  sqlite3_close(rows->database);
  for (int index = 0; index < rows->capacity; index++) free(rows->changed[index].value);
  free(rows->changed);
  free(rows);
}

const loop_row *loop_rows_change(loop_rows *rows, failure_text *failure, unsigned long number) {
  if (rows->count == rows->capacity && loop_rows_store(rows, failure)) return NULL;
  loop_row *row = &rows->changed[rows->count++];
  // SplitMix64's finalizer: people come in no order.
  uint64_t person = number + 0x9e3779b97f4a7c15u;
  person = (person ^ person >> 30) * 0xbf58476d1ce4e5b9u;
  person = (person ^ person >> 27) * 0x94d049bb133111ebu;
  person = (person ^ person >> 31) % (uint64_t)rows->people;
  row->key_length = snprintf(row->key, sizeof row->key, "c%cperson-%llu", 0, (unsigned long long)person);
  sqlite3_bind_blob(rows->get, 1, row->key, row->key_length, SQLITE_STATIC);
  int found = sqlite3_step(rows->get) == SQLITE_ROW && sqlite3_column_bytes(rows->get, 0) == rows->row_bytes;
  if (found) {
    memcpy(row->value, sqlite3_column_blob(rows->get, 0), (size_t)rows->row_bytes);
  } else {
    memset(row->value, 0, (size_t)rows->row_bytes);
  }
  sqlite3_reset(rows->get);
  uint64_t seen;
  memcpy(&seen, row->value, sizeof seen);
  seen++;
  memcpy(row->value, &seen, sizeof seen);
  const uint64_t place[3] = {number, person, seen};
  size_t start = 64 + seen % 32 * sizeof place;
  if (start + sizeof place <= (size_t)rows->row_bytes) memcpy(row->value + start, place, sizeof place);
  return row;
}

int loop_rows_store(loop_rows *rows, failure_text *failure) {
  // The reads were in a transaction of their own, as in SQLiteTaskStore.
  int failed = sqlite3_exec(rows->database, "COMMIT; BEGIN", 0, 0, 0);
  for (int index = 0; !failed && index < rows->count; index++) {
    const loop_row *row = &rows->changed[index];
    sqlite3_bind_blob(rows->put, 1, row->key, row->key_length, SQLITE_STATIC);
    sqlite3_bind_blob(rows->put, 2, row->value, rows->row_bytes, SQLITE_STATIC);
    failed = sqlite3_step(rows->put) != SQLITE_DONE;
    sqlite3_reset(rows->put);
  }
  if (!failed) failed = sqlite3_exec(rows->database, "COMMIT; BEGIN", 0, 0, 0);
  rows->count = 0;
  return failed ? loop_fail(failure, "write the rows", sqlite3_errmsg(rows->database)) : 0;
}
