/* Tensors: our own copies of what the library describes, with buffers of exactly the right size.
 *
 * graphExecute does not check sizes: a buffer that is too small is overrun in silence. */
#ifndef HEAPPROF_TENSORS_H
#define HEAPPROF_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "qnn_abi.h"

struct tensors {
    qnn_tensor *items;
    uint32_t count;
};

/* Copies names, dims and types of `count` tensors. False (out of memory, senseless values: said in
 * `failure`) leaves `copy` in a state that tensors_free accepts. */
bool tensors_copy(struct tensors *copy, const qnn_tensor *from, uint32_t count, struct failure *failure);

/* Allocates zero-filled buffers of dims x width bytes. */
bool tensors_allocate(struct tensors *tensors, struct failure *failure);
void tensors_free(struct tensors *tensors);

/* Bytes of a tensor; false when a dimension is zero, the product overflows or the width is unknown. */
bool tensor_bytes(const qnn_tensor *tensor, uint64_t *bytes);

#endif
