/* DSP heap accounting: which create and which free carry the profile handle, and what they told.
 *
 * The DSP reports its heap for the FIRST create and the LAST free only. Both are counted under a
 * mutex; the first create runs alone (another one beside it would already be in its number), and
 * the last free waits until all others are through. */
#ifndef HEAPPROF_HEAP_H
#define HEAPPROF_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "failure.h"
#include "library.h"

struct heap_reading {
    bool has_before, has_after;
    uint64_t before, after; /* bytes */
    const char *before_call, *after_call;
};

struct heap {
    bool wanted;
    const char *path, *series_path;
    qnn_handle profile;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    unsigned live, freeing;
    uint64_t cycle; /* 1-based */
    uint64_t events;
    struct heap_reading run;  /* before of the first cycle, after of the last one that had one */
    struct heap_reading now;  /* of the cycle under way */
    bool series_started;
};

void heap_init(struct heap *heap, const char *path, const char *series_path);
void heap_start_cycle(struct heap *heap, uint64_t cycle);

/* Around a create: the profile handle to give it, or NULL; then whether it worked (a failed one is
 * not counted). heap_enter_* returning a handle keeps the lock until heap_leave_*. */
qnn_handle heap_enter_create(struct heap *heap);
bool heap_leave_create(struct heap *heap, const struct library *library, qnn_handle profile, bool created,
                       struct failure *failure);

/* Around a free, in the same way. A free that failed counts as done: nothing else can be done with it. */
qnn_handle heap_enter_free(struct heap *heap);
bool heap_leave_free(struct heap *heap, const struct library *library, qnn_handle profile,
                     struct failure *failure);

/* At the end of a cycle: one line of the series. */
bool heap_end_cycle(struct heap *heap, struct failure *failure);

/* Writes the heap file with what is known (nothing known: no file). */
bool heap_write(const struct heap *heap, struct failure *failure);

#endif
