#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Why a document was refused. Own numbers, because simdjson's change between versions.
enum nudge_json_status {
  NUDGE_JSON_OK = 0,
  /// No value at all: no bytes, or blanks only.
  NUDGE_JSON_EMPTY = 1,
  /// Longer than simdjson can index (4 GiB).
  NUDGE_JSON_CAPACITY = 2,
  NUDGE_JSON_MEMORY = 3,
  NUDGE_JSON_DEPTH = 4,
  /// Somewhere in the document the bytes are not UTF-8.
  NUDGE_JSON_UTF8 = 5,
  /// No number of JSON's grammar, or one larger than any double.
  NUDGE_JSON_NUMBER = 6,
  /// An unknown escape, half a surrogate pair, a control character as it is, or no closing quote.
  NUDGE_JSON_STRING = 7,
  /// Anything else that is not JSON: brackets, commas, colons, words, something after the value.
  NUDGE_JSON_SYNTAX = 8,
};

/// A parser and the last document it read. For one thread at a time.
typedef struct nudge_json_parser nudge_json_parser;

/// NULL if memory ran out. `maximum_depth`: objects and arrays inside each other, 1 or more.
nudge_json_parser *nudge_json_parser_new(size_t maximum_depth);
void nudge_json_parser_free(nudge_json_parser *parser);

/// Reads a document: a `nudge_json_status`. The bytes are copied, since simdjson wants padding behind them; a UTF-8 byte order mark is skipped.
/// Integers beyond 64 bits become doubles. Each call discards the former tape, whatever its status.
int nudge_json_parse(nudge_json_parser *parser, const uint8_t *bytes, size_t length);

/// simdjson's tape (https://github.com/simdjson/simdjson/blob/master/doc/tape.md) of the last document. The first value is at index 1.
const uint64_t *nudge_json_tape(const nudge_json_parser *parser);
/// The strings of the last document, each a length of four bytes and as many bytes of UTF-8; the tape points at them.
const uint8_t *nudge_json_strings(const nudge_json_parser *parser);

#ifdef __cplusplus
}
#endif
