/* The part of bionic's <stdio.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_STDIO_H
#define HEAPPROF_BIONIC_STDIO_H

#include <stdarg.h>
#include <stddef.h>

int rename(const char *from, const char *to);
int snprintf(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
