#pragma once
#include "clients.h"

/// Rows in a SQLite file, as a stage's store has them: one table, keys of a person, a log of its own.
typedef struct loop_rows loop_rows;

/// Opens a new file; NULL with the reason in `failure`. `batch`: rows between two writes at most.
loop_rows *loop_rows_open(failure_text *failure, const char *path, long people, int row_bytes, int batch);
void loop_rows_close(loop_rows *rows);

/// A row that was read and changed, until the next write.
typedef struct {
  char key[32];
  int key_length;
  unsigned char *value;
} loop_row;

/// Reads the row of the person whom a number stands for, and changes it in place: its head, and one of 32 places of 24 bytes.
const loop_row *loop_rows_change(loop_rows *rows, failure_text *failure, unsigned long number);

/// Writes the rows that were changed, in one transaction.
int loop_rows_store(loop_rows *rows, failure_text *failure);
