#include "htp_objects.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *live;

struct object *object_add(enum object_kind kind, qnn_handle real) {
    struct object *object = calloc(1, sizeof(*object));
    if (object != NULL) {
        object->kind = kind;
        object->real = real;
        pthread_mutex_lock(&lock);
        object->next = live;
        live = object;
        pthread_mutex_unlock(&lock);
    }
    return object;
}

struct object *object_find(qnn_handle handle, enum object_kind kind) {
    pthread_mutex_lock(&lock);
    struct object *object = live;
    /* Compared before it is looked into: the value may be any garbage. */
    while (object != NULL && object != handle) {
        object = object->next;
    }
    pthread_mutex_unlock(&lock);
    return object != NULL && object->kind == kind ? object : NULL;
}

qnn_handle object_real(qnn_handle handle, enum object_kind kind) {
    struct object *object = handle != NULL ? object_find(handle, kind) : NULL;
    return object != NULL ? object->real : NULL;
}

static void end(struct object *object) {
    if (object->binary != NULL) {
        binary_free(object->binary);
    }
    events_free(&object->events);
    free(object);
}

void object_remove(struct object *gone) {
    pthread_mutex_lock(&lock);
    struct object **at = &live;
    while (*at != NULL) {
        struct object *object = *at;
        if (object == gone || object->owner == gone) {
            *at = object->next;
            if (object != gone) {
                end(object);
            }
        } else {
            at = &object->next;
        }
    }
    pthread_mutex_unlock(&lock);
    end(gone);
}

const struct event_list *object_find_events(uint64_t id) {
    const struct event_list *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct object *object = live; object != NULL && found == NULL; object = object->next) {
        for (uint32_t i = 0; i < object->events.count && found == NULL; i++) {
            found = object->events.ids[i] == id ? &object->events : NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}
