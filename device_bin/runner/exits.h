/* Exit codes of the runner; device_bin/README.md lists them and the host reads them. */
#ifndef HEAPPROF_EXITS_H
#define HEAPPROF_EXITS_H

enum {
    EXIT_OK = 0,
    EXIT_USAGE = 2,
    EXIT_LOAD = 20,
    EXIT_SETUP = 21,
    EXIT_CREATE = 22,
    EXIT_EXECUTE = 23,
    EXIT_FREE = 24,
    EXIT_WRITE = 25,
    EXIT_INPUT = 26,
    EXIT_CRASHED = 30,
    EXIT_TIME_LIMIT = 31,
    EXIT_STOPPED = 32,
    EXIT_INTERNAL = 70,
};

#endif
