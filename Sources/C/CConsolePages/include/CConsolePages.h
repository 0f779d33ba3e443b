#ifndef CCONSOLEPAGES_H
#define CCONSOLEPAGES_H

#include <stddef.h>

/// A file of Pages/, as it is on disk.
struct console_page {
  const char *name;
  const char *type;
  const unsigned char *bytes;
  size_t size;
};

size_t console_page_count(void);

/// A page by its number, from 0.
struct console_page console_page_at(size_t index);

#endif
