/* The part of bionic's <sys/wait.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_SYS_WAIT_H
#define HEAPPROF_BIONIC_SYS_WAIT_H

#include <sys/types.h>

#define WNOHANG 1
#define WTERMSIG(status) ((status) & 0x7f)
#define WIFSIGNALED(status) (WTERMSIG((status) + 1) >= 2)
#define WEXITSTATUS(status) (((status) & 0xff00) >> 8)

pid_t waitpid(pid_t pid, int *status, int options);

#endif
