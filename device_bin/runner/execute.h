/* Executing graphs: inputs from lists or zeros, warm-up, repeats, outputs to a folder. */
#ifndef HEAPPROF_EXECUTE_H
#define HEAPPROF_EXECUTE_H

#include "input_list.h"
#include "model.h"

struct inputs {
    struct input_list *lists; /* one for all graphs, or one a graph; NULL: zeros */
    size_t count;
};

bool inputs_read(struct inputs *inputs, const struct option_list *paths, struct failure *failure);
void inputs_free(struct inputs *inputs);

/* Executes every graph of models[index]; `first_graph` is the number of graphs of the models before
 * it, `all_graphs` that of all models. */
bool execute_model(struct model *model, size_t first_graph, size_t all_graphs, const struct inputs *inputs,
                   struct session *session, struct failure *failure);

#endif
