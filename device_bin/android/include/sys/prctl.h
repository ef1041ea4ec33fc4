/* The part of bionic's <sys/prctl.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_SYS_PRCTL_H
#define HEAPPROF_BIONIC_SYS_PRCTL_H

#define PR_SET_PDEATHSIG 1

int prctl(int option, ...);

#endif
