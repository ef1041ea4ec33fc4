/* The part of bionic's <sys/mman.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_SYS_MMAN_H
#define HEAPPROF_BIONIC_SYS_MMAN_H

#include <sys/types.h>

#define PROT_READ 1
#define MAP_PRIVATE 2
#define MAP_FAILED ((void *)-1)

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset);
int munmap(void *address, size_t size);

#endif
