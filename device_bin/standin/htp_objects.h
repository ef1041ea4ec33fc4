/* The handles that the stand-in gives out; a value that is no live handle is recognized as such. */
#ifndef STANDIN_OBJECTS_H
#define STANDIN_OBJECTS_H

#include "context_binary.h"
#include "htp_simulated_heap.h"
#include "qnn_abi.h"

enum object_kind { OBJECT_LOG, OBJECT_BACKEND, OBJECT_DEVICE, OBJECT_PROFILE, OBJECT_CONTEXT, OBJECT_GRAPH };

struct object {
    struct object *next;
    enum object_kind kind;
    qnn_handle real; /* of the chained library, or NULL */
    /* context */
    struct binary *binary;
    bool dsp_profiled; /* made with option 4 */
    /* graph */
    struct object *owner;
    const qnn_graph_info *graph;
    /* profile */
    struct event_list events;
};

/* A new live object, or NULL. */
struct object *object_add(enum object_kind kind, qnn_handle real);

/* The object that a handle stands for; NULL when it is no live handle of that kind. */
struct object *object_find(qnn_handle handle, enum object_kind kind);

/* The chained library's handle for one of ours (NULL for NULL). */
qnn_handle object_real(qnn_handle handle, enum object_kind kind);

/* Ends an object; a context's graphs end with it. */
void object_remove(struct object *object);

/* The live list that an event's id belongs to, or NULL. */
const struct event_list *object_find_events(uint64_t id);

#endif
