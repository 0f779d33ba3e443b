#include "csimdjson.h"

#include <simdjson.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

struct nudge_json_parser {
  simdjson::dom::parser parser;
  std::unique_ptr<uint8_t[]> padded;
  size_t capacity = 0;
};

namespace {

int status(simdjson::error_code error) {
  switch (error) {
  case simdjson::SUCCESS: return NUDGE_JSON_OK;
  case simdjson::EMPTY: return NUDGE_JSON_EMPTY;
  case simdjson::CAPACITY: return NUDGE_JSON_CAPACITY;
  case simdjson::MEMALLOC: return NUDGE_JSON_MEMORY;
  case simdjson::DEPTH_ERROR: return NUDGE_JSON_DEPTH;
  case simdjson::UTF8_ERROR: return NUDGE_JSON_UTF8;
  case simdjson::NUMBER_ERROR:
  case simdjson::NUMBER_OUT_OF_RANGE: return NUDGE_JSON_NUMBER;
  case simdjson::STRING_ERROR:
  case simdjson::UNESCAPED_CHARS:
  case simdjson::UNCLOSED_STRING: return NUDGE_JSON_STRING;
  default: return NUDGE_JSON_SYNTAX;
  }
}

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// Whether the digits, with this sign, are beyond what 64 bits hold: below Int64.min or above UInt64.max.
bool overflows(const uint8_t *digits, size_t count, bool negative) {
  const uint64_t limit =
      negative ? uint64_t(1) << 63 : std::numeric_limits<uint64_t>::max();
  uint64_t value = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t digit = digits[i] - '0';
    if (value > (limit - digit) / 10) return true;
    value = value * 10 + digit;
  }
  return false;
}

/// The document with an exponent of 0 behind every integer that does not fit 64 bits, which makes it a double. simdjson refuses the whole document
/// for such a number, even in a field nobody reads; JSONDecoder does not.
std::vector<uint8_t> with_wide_integers_as_doubles(const uint8_t *bytes, size_t length) {
  std::vector<uint8_t> out;
  out.reserve(length + 64);
  size_t i = 0;
  bool in_string = false;
  while (i < length) {
    const uint8_t byte = bytes[i];
    if (in_string) {
      out.push_back(byte);
      i++;
      if (byte == '\\' && i < length) out.push_back(bytes[i++]);
      if (byte == '"') in_string = false;
      continue;
    }
    if (byte == '"') in_string = true;
    if (byte != '-' && !is_digit(byte)) {
      out.push_back(byte);
      i++;
      continue;
    }
    const size_t start = i;
    const bool negative = byte == '-';
    if (negative) i++;
    const size_t digits = i;
    while (i < length && is_digit(bytes[i])) i++;
    const size_t integer = i;
    while (i < length && (is_digit(bytes[i]) || bytes[i] == '.' || bytes[i] == 'e' || bytes[i] == 'E' || bytes[i] == '+' || bytes[i] == '-')) i++;
    out.insert(out.end(), bytes + start, bytes + i);
    if (i == integer && overflows(bytes + digits, integer - digits, negative)) {
      out.push_back('e');
      out.push_back('0');
    }
  }
  return out;
}

simdjson::error_code parse(nudge_json_parser *parser, const uint8_t *bytes, size_t length) {
  if (length > simdjson::SIMDJSON_MAXSIZE_BYTES) return simdjson::CAPACITY;
  const size_t needed = length + simdjson::SIMDJSON_PADDING;
  if (parser->capacity < needed) {
    const size_t capacity = 2 * needed;
    parser->capacity = 0;
    parser->padded.reset(new (std::nothrow) uint8_t[capacity]);
    if (!parser->padded) return simdjson::MEMALLOC;
    parser->capacity = capacity;
  }
  if (length > 0) memcpy(parser->padded.get(), bytes, length);
  // The padding is read, though nothing depends on it; blanks keep what is read the same from run to run.
  memset(parser->padded.get() + length, ' ', simdjson::SIMDJSON_PADDING);
  return parser->parser.parse(parser->padded.get(), length, false).error();
}

} // namespace

nudge_json_parser *nudge_json_parser_new(size_t maximum_depth) {
  nudge_json_parser *parser = new (std::nothrow) nudge_json_parser;
  if (parser == nullptr) return nullptr;
  // simdjson counts the document itself as a level.
  if (parser->parser.allocate(1024, maximum_depth + 1) != simdjson::SUCCESS) {
    delete parser;
    return nullptr;
  }
  return parser;
}

void nudge_json_parser_free(nudge_json_parser *parser) { delete parser; }

int nudge_json_parse(nudge_json_parser *parser, const uint8_t *bytes, size_t length) {
  if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
    bytes += 3;
    length -= 3;
  }
  simdjson::error_code error = parse(parser, bytes, length);
  if (error == simdjson::NUMBER_ERROR) {
    // vector may throw, and no exception may reach Swift.
    try {
      const std::vector<uint8_t> wide = with_wide_integers_as_doubles(bytes, length);
      if (wide.size() > length) error = parse(parser, wide.data(), wide.size());
    } catch (const std::bad_alloc &) {
      error = simdjson::MEMALLOC;
    }
  }
  return status(error);
}

const uint64_t *nudge_json_tape(const nudge_json_parser *parser) { return parser->parser.doc.tape.get(); }
const uint8_t *nudge_json_strings(const nudge_json_parser *parser) { return parser->parser.doc.string_buf.get(); }
