/* The part of bionic's <stdlib.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_STDLIB_H
#define HEAPPROF_BIONIC_STDLIB_H

#include <stddef.h>

void *calloc(size_t count, size_t size);
void free(void *memory);
void *malloc(size_t size);
void *realloc(void *memory, size_t size);

#endif
