/* What a run shares: the library's log, backend, device and profile handles, and the power vote. */
#ifndef HEAPPROF_SESSION_H
#define HEAPPROF_SESSION_H

#include "failure.h"
#include "heap.h"
#include "library.h"
#include "options.h"
#include "performance.h"

struct session {
    const struct options *options;
    struct library library;
    struct heap heap;
    struct performance vote;
    qnn_handle log, backend, device, profile;
    qnn_handle first_context; /* of the group that shares a spill-fill buffer */
};

/* Log, backend, device, profile (only for heap profiling), then the performance mode. */
bool session_open(struct session *session, struct failure *failure);

/* Everything that was opened, in reverse; goes on after a failure. */
bool session_close(struct session *session, struct failure *failure);

#endif
