/* The part of bionic's <string.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_STRING_H
#define HEAPPROF_BIONIC_STRING_H

#include <stddef.h>

void *memchr(const void *memory, int byte, size_t size);
int memcmp(const void *left, const void *right, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *memory, int byte, size_t size);
char *strchr(const char *text, int byte);
int strcmp(const char *left, const char *right);
size_t strcspn(const char *text, const char *reject);
char *strerror(int number);
size_t strlen(const char *text);
int strncmp(const char *left, const char *right, size_t size);
size_t strnlen(const char *text, size_t limit);
char *strrchr(const char *text, int byte);
size_t strspn(const char *text, const char *accept);
char *strstr(const char *text, const char *part);

#endif
