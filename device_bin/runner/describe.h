/* Reading what a context binary holds, through the system library. */
#ifndef HEAPPROF_DESCRIBE_H
#define HEAPPROF_DESCRIBE_H

#include "model.h"

/* Fills model->graphs with our own copies and tells the supervisor of the context. */
bool describe_model(struct model *model, const struct library *library, const void *data, size_t size,
                    struct failure *failure);

#endif
