/* The part of bionic's <errno.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_ERRNO_H
#define HEAPPROF_BIONIC_ERRNO_H

/* bionic's errno is a function's result; __errno_location is glibc's and musl's. */
int *__errno(void) __attribute__((const));
#define errno (*__errno())

#define ENOENT 2
#define EINTR 4
#define ECHILD 10
#define EEXIST 17
#define EISDIR 21
#define EINVAL 22
#define ENAMETOOLONG 36

#endif
