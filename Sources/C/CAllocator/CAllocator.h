#pragma once
// Nothing to call: a program that links this module has jemalloc as its allocator (see allocator.c).
