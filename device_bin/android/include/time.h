/* The part of bionic's <time.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_TIME_H
#define HEAPPROF_BIONIC_TIME_H

#include <sys/types.h>

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};

#define CLOCK_MONOTONIC 1

int clock_gettime(int clock, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);

#endif
