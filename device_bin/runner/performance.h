/* Performance modes 0-8, voted as ExecuTorch votes them. */
#ifndef HEAPPROF_PERFORMANCE_H
#define HEAPPROF_PERFORMANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

/* The number of a mode given as "0".."8" or by name; -1 when there is none such. */
int performance_mode_of(const char *value);

/* A vote that is held; zero-filled when none is. */
struct performance {
    const qnn_infrastructure *infrastructure;
    uint32_t id;
    bool held;
};

/* Up-votes `mode` (0: nothing is called). False with the failed call in `failure`. */
bool performance_raise(struct performance *vote, const struct library *library, unsigned mode,
                       struct failure *failure);

/* Down-votes and destroys the power configuration; nothing when no vote is held. */
bool performance_lower(struct performance *vote, struct failure *failure);

#endif
