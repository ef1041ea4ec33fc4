/* The part of bionic's <sys/signalfd.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_SYS_SIGNALFD_H
#define HEAPPROF_BIONIC_SYS_SIGNALFD_H

#include <signal.h>

#define SFD_CLOEXEC 02000000
#define SFD_NONBLOCK 04000

int signalfd(int descriptor, const sigset_t *mask, int flags);

#endif
