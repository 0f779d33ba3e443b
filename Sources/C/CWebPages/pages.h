#ifndef CWEBPAGES_H
#define CWEBPAGES_H

#include <stddef.h>

/// A file of a folder of Pages/, or of Schemas/app/web, as it is on disk.
struct web_page {
  /// The pages that it belongs to: console, phones.
  const char *folder;
  const char *name;
  const char *type;
  const unsigned char *bytes;
  size_t size;
};

size_t web_page_count(void);

/// A file by its number, from 0.
struct web_page web_page_at(size_t index);

#endif
