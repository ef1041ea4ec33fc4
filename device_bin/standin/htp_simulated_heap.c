#include "htp_simulated_heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "htp_behaviour.h"

/* What every live context holds of the simulated heap: a reading that is not of the first create or
 * the last free shows it. */
enum { CONTEXT_BYTES = 65536, MAX_REPEAT = 10000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t live, cycle; /* contexts; rounds from the first create to the last free, 1-based */

static uint64_t growth(uint64_t cycles_done) {
    const struct behaviour *b = behaviour();
    return cycles_done == 0 ? 0 : b->one_time + cycles_done * b->leak;
}

uint64_t heap_created(void) {
    pthread_mutex_lock(&lock);
    if (live == 0) {
        cycle++;
    }
    uint64_t bytes = behaviour()->before + growth(cycle - 1) + live * CONTEXT_BYTES;
    live++;
    pthread_mutex_unlock(&lock);
    return bytes;
}

void heap_undo(void) {
    pthread_mutex_lock(&lock);
    live--;
    if (live == 0) {
        cycle--;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t heap_freed(void) {
    pthread_mutex_lock(&lock);
    live--;
    uint64_t bytes = behaviour()->after + growth(cycle) + live * CONTEXT_BYTES;
    pthread_mutex_unlock(&lock);
    return bytes;
}

static void add(struct event_list *list, uint32_t unit, uint64_t value, const char *identifier) {
    qnn_event *event = &list->events[list->count++];
    event->type = 0;
    event->unit = unit;
    event->value = value;
    event->identifier = identifier;
}

static void reverse(struct event_list *list) {
    for (uint32_t i = 0; i < list->count / 2; i++) {
        qnn_event event = list->events[i];
        list->events[i] = list->events[list->count - 1 - i];
        list->events[list->count - 1 - i] = event;
    }
}

bool events_make(struct event_list *list, bool after, bool dsp_profiled, uint64_t heap_bytes) {
    const struct behaviour *b = behaviour();
    uint64_t repeat = b->repeat < MAX_REPEAT ? b->repeat : MAX_REPEAT;
    events_free(list);
    list->events = calloc(2 * repeat + 2, sizeof(*list->events));
    list->ids = calloc(2 * repeat + 2, sizeof(*list->ids));
    if (list->events == NULL || list->ids == NULL) {
        events_free(list);
        return false;
    }
    add(list, QNN_UNIT_MICROSECONDS, 1000, after ? "QNN (deinit) time" : "QNN (load binary) time");
    for (uint64_t i = 0; dsp_profiled && i < repeat; i++) {
        if (!after && b->event_before) {
            add(list, QNN_UNIT_BYTES, heap_bytes, QNN_EVENT_BEFORE);
        }
        /* In reversed order the free's list tells of both, the later one first. */
        if (after && b->reversed && b->event_before) {
            add(list, QNN_UNIT_BYTES, b->before + growth(cycle - 1), QNN_EVENT_BEFORE);
        }
        if (after && b->event_after) {
            add(list, QNN_UNIT_BYTES, heap_bytes, QNN_EVENT_AFTER);
        }
    }
    if (b->reversed) {
        reverse(list);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        list->ids[i] = (uint64_t)(size_t)&list->events[i];
    }
    return true;
}

void events_free(struct event_list *list) {
    free(list->events);
    free(list->ids);
    memset(list, 0, sizeof(*list));
}
