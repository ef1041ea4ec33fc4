/* The part of bionic's <poll.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_POLL_H
#define HEAPPROF_BIONIC_POLL_H

#define POLLIN 1
#define POLLHUP 16

struct pollfd {
    int fd;
    short events, revents;
};

int poll(struct pollfd *watched, unsigned int count, int milliseconds);

#endif
