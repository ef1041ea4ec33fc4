/* The part of bionic's <fcntl.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_FCNTL_H
#define HEAPPROF_BIONIC_FCNTL_H

#define O_RDONLY 0
#define O_WRONLY 01
#define O_CREAT 0100
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_CLOEXEC 02000000
#define F_SETFL 4

int fcntl(int descriptor, int command, ...);
int open(const char *path, int flags, ...);

#endif
