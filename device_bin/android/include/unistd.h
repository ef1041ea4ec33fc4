/* The part of bionic's <unistd.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_UNISTD_H
#define HEAPPROF_BIONIC_UNISTD_H

#include <sys/types.h>

#define STDOUT_FILENO 1
#define STDERR_FILENO 2

int close(int descriptor);
void _exit(int code) __attribute__((noreturn));
pid_t fork(void);
int fsync(int descriptor);
pid_t getpid(void);
pid_t getppid(void);
int pause(void);
int pipe2(int ends[2], int flags);
ssize_t read(int descriptor, void *buffer, size_t size);
ssize_t readlink(const char *path, char *buffer, size_t size);
int unlink(const char *path);
ssize_t write(int descriptor, const void *buffer, size_t size);

#endif
