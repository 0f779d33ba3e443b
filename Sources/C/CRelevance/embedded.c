#include "relevance.h"

// The clang of the Swift toolchain has #embed as an extension; it also notes the files as dependencies of this one.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char trees[] = {
#embed "Weights/trees.bin"
};

static const char about[] = {
#embed "Weights/about.txt"
, 0};

const unsigned char *relevance_trees(size_t *size) {
  *size = sizeof trees;
  return trees;
}

const char *relevance_about(void) { return about; }

static const char english[] = {
#embed "Lexicons/english.txt"
, 0};
static const char german[] = {
#embed "Lexicons/german.txt"
, 0};
static const char french[] = {
#embed "Lexicons/french.txt"
, 0};
static const char spanish[] = {
#embed "Lexicons/spanish.txt"
, 0};
static const char italian[] = {
#embed "Lexicons/italian.txt"
, 0};
static const char portuguese[] = {
#embed "Lexicons/portuguese.txt"
, 0};
static const char dutch[] = {
#embed "Lexicons/dutch.txt"
, 0};
static const char turkish[] = {
#embed "Lexicons/turkish.txt"
, 0};
static const char russian[] = {
#embed "Lexicons/russian.txt"
, 0};
static const char japanese[] = {
#embed "Lexicons/japanese.txt"
, 0};
static const char chinese[] = {
#embed "Lexicons/chinese.txt"
, 0};
static const char korean[] = {
#embed "Lexicons/korean.txt"
, 0};
static const char polish[] = {
#embed "Lexicons/polish.txt"
, 0};

static const struct relevance_lexicon lexicons[] = {
    {"english", english},
    {"german", german},
    {"french", french},
    {"spanish", spanish},
    {"italian", italian},
    {"portuguese", portuguese},
    {"dutch", dutch},
    {"turkish", turkish},
    {"russian", russian},
    {"japanese", japanese},
    {"chinese", chinese},
    {"korean", korean},
    {"polish", polish},
};

size_t relevance_lexicon_count(void) { return sizeof lexicons / sizeof lexicons[0]; }

struct relevance_lexicon relevance_lexicon_at(size_t index) { return lexicons[index]; }
