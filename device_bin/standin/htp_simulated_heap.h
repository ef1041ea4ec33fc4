/* The simulated DSP heap, and the profile events that tell of it. */
#ifndef STANDIN_SIMULATED_HEAP_H
#define STANDIN_SIMULATED_HEAP_H

#include "qnn_abi.h"

struct event_list {
    qnn_event *events;
    uint64_t *ids; /* addresses of the events */
    uint32_t count;
};

/* Around a context's life; both give the heap in bytes: just before the create, just after the free.
 * heap_undo takes back a create that failed. */
uint64_t heap_created(void);
void heap_undo(void);
uint64_t heap_freed(void);

/* Makes the events of a create (`after` false) or a free; false: out of memory. */
bool events_make(struct event_list *list, bool after, bool dsp_profiled, uint64_t heap_bytes);
void events_free(struct event_list *list);

#endif
