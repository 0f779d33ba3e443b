#ifndef CRELEVANCE_H
#define CRELEVANCE_H

#include <stddef.h>

/// Weights/trees.bin, in the form that RelevanceModel.init reads.
const unsigned char *relevance_trees(size_t *size);

/// Weights/about.txt: the version in the first line; what the weights were trained on, and how good they are, in the others.
const char *relevance_about(void);

/// A file of Lexicons, in the form that UrgencyLexicon.init reads.
struct relevance_lexicon {
  /// The file's name without `.txt`.
  const char *language;
  /// Ends with a 0.
  const char *text;
};

size_t relevance_lexicon_count(void);

/// A lexicon by its number, from 0. English is first.
struct relevance_lexicon relevance_lexicon_at(size_t index);

#endif
