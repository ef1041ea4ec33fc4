/* Doing one thing to several items at the same time. */
#ifndef HEAPPROF_POOL_H
#define HEAPPROF_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"

/* `work` on one item; false with the reason in `failure`. */
typedef bool (*pool_work)(void *shared, size_t index, struct failure *failure);

/* Runs `work` for the indexes first..end-1 on up to `threads` threads (1: in this one, in order).
 * No new item is begun after one has failed; the failed item with the lowest index is told. */
bool pool_run(size_t threads, size_t first, size_t end, pool_work work, void *shared, struct failure *failure);

#endif
