#include "heap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exits.h"
#include "files.h"
#include "report.h"
#include "text.h"

enum { MAX_DEPTH = 4 };

static const char create_call[] = "contextCreateFromBinary";
static const char free_call[] = "contextFree";

void heap_init(struct heap *heap, const char *path, const char *series_path) {
    memset(heap, 0, sizeof(*heap));
    heap->path = path;
    heap->series_path = series_path;
    heap->wanted = path[0] != '\0';
    pthread_mutex_init(&heap->lock, NULL);
    pthread_cond_init(&heap->freed, NULL);
}

void heap_start_cycle(struct heap *heap, uint64_t cycle) {
    heap->cycle = cycle;
    memset(&heap->now, 0, sizeof(heap->now));
}

static void tell(const struct heap *heap) {
    const struct heap_reading *run = &heap->run;
    char json[512];
    struct text text = text_in(json, sizeof(json));
    text_add(&text, "{\"requested\":true,\"before_bytes\":");
    text_add_known(&text, run->has_before, run->before, "null");
    text_add(&text, ",\"after_bytes\":");
    text_add_known(&text, run->has_after, run->after, "null");
    text_add(&text, ",\"before_call\":");
    text_add_json(&text, run->before_call);
    text_add(&text, ",\"after_call\":");
    text_add_json(&text, run->after_call);
    text_add(&text, ",\"events\":%llu}", (unsigned long long)heap->events);
    report("heap", json);
}

/* Takes one event. The first "before" and the latest "after" of a cycle count, from whichever of
 * the two calls they come, so that neither order nor repeats can change or lose one. */
static void take(struct heap *heap, const qnn_event *event, const char *call) {
    struct heap_reading *now = &heap->now;
    if (strcmp(event->identifier, QNN_EVENT_BEFORE) == 0) {
        heap->events++;
        if (!now->has_before) {
            now->has_before = true;
            now->before = event->value;
            now->before_call = call;
        }
    } else if (strcmp(event->identifier, QNN_EVENT_AFTER) == 0) {
        heap->events++;
        now->has_after = true;
        now->after = event->value;
        now->after_call = call;
    }
}

static void keep(struct heap *heap) {
    const struct heap_reading *now = &heap->now;
    if (now->has_before && heap->cycle == 1) {
        heap->run.has_before = true;
        heap->run.before = now->before;
        heap->run.before_call = now->before_call;
    }
    /* The "after" of an earlier cycle must not stand for the last one's. */
    heap->run.has_after = now->has_after;
    heap->run.after = now->after;
    heap->run.after_call = now->after_call;
}

/* Takes the events of one list, and those below them: the facts tell of top-level events, and a
 * library that files them under another event must not lose us the numbers. */
static bool take_list(struct heap *heap, const struct library *library, const uint64_t *ids, uint32_t count,
                      const char *call, unsigned depth, struct failure *failure) {
    for (uint32_t i = 0; ids != NULL && i < count; i++) {
        qnn_event event;
        const uint64_t *below = NULL;
        uint32_t below_count = 0;
        memset(&event, 0, sizeof(event));
        qnn_error error = library->get_event_data(ids[i], &event);
        if (error != QNN_OK) {
            return fail(failure, error, "profileGetEventData", "event %u of %u can't be read after %s", i + 1,
                        count, call);
        }
        if (event.identifier != NULL) {
            take(heap, &event, call);
        }
        if (depth < MAX_DEPTH && library->get_sub_events != NULL &&
            library->get_sub_events(ids[i], &below, &below_count) == QNN_OK &&
            !take_list(heap, library, below, below_count, call, depth + 1, failure)) {
            return false;
        }
    }
    return true;
}

/* The profile handle shows only its last call's events: this has to run right after that call. */
static bool read_events(struct heap *heap, const struct library *library, const char *call,
                        struct failure *failure) {
    const uint64_t *ids = NULL;
    uint32_t count = 0;
    qnn_error error = library->get_events(heap->profile, &ids, &count);
    if (error != QNN_OK) {
        return fail(failure, error, "profileGetEvents", "the DSP's heap events can't be read after %s", call);
    }
    if (!take_list(heap, library, ids, count, call, 0, failure)) {
        return false;
    }
    keep(heap);
    tell(heap);
    return true;
}

qnn_handle heap_enter_create(struct heap *heap) {
    pthread_mutex_lock(&heap->lock);
    heap->live++;
    if (heap->wanted && heap->live == 1) {
        return heap->profile;
    }
    pthread_mutex_unlock(&heap->lock);
    return NULL;
}

bool heap_leave_create(struct heap *heap, const struct library *library, qnn_handle profile, bool created,
                       struct failure *failure) {
    bool good = true;
    if (profile == NULL) {
        pthread_mutex_lock(&heap->lock);
    } else if (created) {
        good = read_events(heap, library, create_call, failure);
        if (good && heap->cycle == 1) {
            good = heap_write(heap, failure);
        }
    }
    if (!created) {
        heap->live--;
    }
    pthread_mutex_unlock(&heap->lock);
    return good;
}

qnn_handle heap_enter_free(struct heap *heap) {
    pthread_mutex_lock(&heap->lock);
    heap->live--;
    if (heap->wanted && heap->live == 0) {
        while (heap->freeing > 0) {
            pthread_cond_wait(&heap->freed, &heap->lock);
        }
        return heap->profile;
    }
    heap->freeing++;
    pthread_mutex_unlock(&heap->lock);
    return NULL;
}

bool heap_leave_free(struct heap *heap, const struct library *library, qnn_handle profile,
                     struct failure *failure) {
    bool good = true;
    if (profile != NULL) {
        good = read_events(heap, library, free_call, failure);
    } else {
        pthread_mutex_lock(&heap->lock);
        heap->freeing--;
        pthread_cond_signal(&heap->freed);
    }
    pthread_mutex_unlock(&heap->lock);
    return good;
}

static bool append_line(struct heap *heap, const char *line, size_t length, struct failure *failure) {
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (heap->series_started ? O_APPEND : O_TRUNC);
    int descriptor = open(heap->series_path, flags, 0644);
    bool good = descriptor >= 0 && write_all(descriptor, line, length);
    if (!good) {
        fail_errno(failure, EXIT_WRITE, "write", "heap series %.300s", heap->series_path);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    heap->series_started = true;
    return good;
}

bool heap_end_cycle(struct heap *heap, struct failure *failure) {
    if (!heap->wanted || heap->series_path[0] == '\0') {
        return true;
    }
    char line[160];
    struct text text = text_in(line, sizeof(line));
    if (!heap->series_started) {
        text_add(&text, "cycle,before_bytes,after_bytes\n");
    }
    /* An unknown value is an empty field, never zero. */
    const struct heap_reading *now = &heap->now;
    text_add(&text, "%llu,", (unsigned long long)heap->cycle);
    text_add_known(&text, now->has_before, now->before, "");
    text_add(&text, ",");
    text_add_known(&text, now->has_after, now->after, "");
    text_add(&text, "\n");
    return append_line(heap, line, text.length, failure);
}

bool heap_write(const struct heap *heap, struct failure *failure) {
    const struct heap_reading *run = &heap->run;
    char lines[192];
    const char *call = NULL;
    struct text text = text_in(lines, sizeof(lines));
    if (run->has_before) {
        text_add(&text, QNN_EVENT_BEFORE " (bytes), %llu\n", (unsigned long long)run->before);
    }
    if (run->has_after) {
        text_add(&text, QNN_EVENT_AFTER " (bytes), %llu\n", (unsigned long long)run->after);
    }
    if (!heap->wanted || text.length == 0) {
        return true;
    }
    if (!write_file(heap->path, lines, text.length, true, &call)) {
        return fail_errno(failure, EXIT_WRITE, call, "heap file %.300s", heap->path);
    }
    return true;
}
