#include "CRelevanceWeights.h"

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
