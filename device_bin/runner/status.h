/* The status file: what the supervisor knows of the run, as one JSON object. */
#ifndef HEAPPROF_STATUS_H
#define HEAPPROF_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "report.h"

struct status {
    const struct options *options;
    const char *state; /* running, done, failed, crashed, timed_out, stopped */
    int stage;         /* enum stage; -1 before the first */
    bool ended;        /* the child said that it came to its end */
    long process;      /* the child's number, by which system logs know it; 0: not started */
    int exit_code;     /* -1: not known yet */
    int signal;        /* 0: none */
    uint64_t stage_start_ns;
    uint64_t stage_ns[STAGE_COUNT];
    bool stage_seen[STAGE_COUNT];
    char *library, *heap, *error; /* JSON objects as told, or NULL */
    char *contexts;               /* JSON objects, separated by commas */
    size_t contexts_length;
};

void status_init(struct status *status, const struct options *options);
void status_free(struct status *status);

/* Takes one message of the child, without its line end. An unknown or broken one is ignored. */
void status_take(struct status *status, char *line);

/* Says what ended a run that didn't end by itself. `what` is put before the stage's name. */
void status_set_error(struct status *status, const char *what);

/* Writes the file (path "" = none); `last`: durably, with the running stage's time closed. */
bool status_write(struct status *status, bool last);

/* "SIGSEGV", or NULL for one without a name here. */
const char *signal_name(int number);

#endif
