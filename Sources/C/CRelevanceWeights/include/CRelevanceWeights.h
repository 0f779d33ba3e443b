#ifndef CRELEVANCEWEIGHTS_H
#define CRELEVANCEWEIGHTS_H

#include <stddef.h>

/// Weights/trees.bin, in the form that RelevanceModel.init reads.
const unsigned char *relevance_trees(size_t *size);

/// Weights/about.txt: the version in the first line; what the weights were trained on, and how good they are, in the others.
const char *relevance_about(void);

#endif
