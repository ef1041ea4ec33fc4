/* One context binary: what it holds, and its context's life. */
#ifndef HEAPPROF_MODEL_H
#define HEAPPROF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "session.h"
#include "tensors.h"

struct graph {
    char *name;
    qnn_handle handle;
    bool allocated; /* the tensors have buffers; they are kept over all cycles */
    struct tensors inputs, outputs;
};

struct model {
    const char *path;
    bool described; /* its graphs are known: read once, kept over all cycles */
    struct graph *graphs;
    size_t graph_count;
    qnn_handle context; /* NULL when there is none */
};

/* Maps the file, reads what it holds (once), creates the context. The create's return code alone
 * decides: its out handle may be garbage on errors. */
bool model_create(struct model *model, struct session *session, struct failure *failure);

/* Retrieves every graph of the created context and allocates its tensors (once). */
bool model_retrieve(struct model *model, struct session *session, struct failure *failure);

/* Executes one graph once with what lies in its input buffers. */
bool graph_run(struct graph *graph, struct session *session, struct failure *failure);

bool model_free_context(struct model *model, struct session *session, struct failure *failure);
void model_release(struct model *model);

#endif
