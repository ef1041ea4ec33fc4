#include "tensors.h"

#include <stdlib.h>
#include <string.h>

#include "exits.h"

enum { MAX_RANK = 32, MAX_TENSORS = 65536, MAX_NAME = 4096 };

static bool out_of_memory(struct failure *failure) {
    failure->exit_code = failure->set ? failure->exit_code : EXIT_INTERNAL;
    return fail(failure, 0, "malloc", "out of memory");
}

static bool copy_one(qnn_tensor *copy, const qnn_tensor *from, struct failure *failure) {
    if (from->name == NULL || from->rank > MAX_RANK || (from->rank > 0 && from->dims == NULL)) {
        return fail(failure, 0, "systemContextGetBinaryInfo", "a tensor's description makes no sense (rank %u)",
                    from->rank);
    }
    size_t length = strnlen(from->name, MAX_NAME);
    char *name = malloc(length + 1);
    uint32_t *dims = calloc(from->rank + 1u, sizeof(*dims));
    *copy = *from;
    copy->name = name;
    copy->dims = dims;
    copy->buffer.data = NULL;
    copy->buffer.size = 0;
    /* The fields that version 2 adds point into the library's memory; version 1 is enough to execute. */
    copy->version = 1;
    memset(copy->version_2, 0, sizeof(copy->version_2));
    if (name == NULL || dims == NULL) {
        return out_of_memory(failure);
    }
    memcpy(name, from->name, length);
    name[length] = '\0';
    if (from->rank > 0) {
        memcpy(dims, from->dims, from->rank * sizeof(*dims));
    }
    return true;
}

bool tensors_copy(struct tensors *copy, const qnn_tensor *from, uint32_t count, struct failure *failure) {
    copy->count = 0;
    copy->items = NULL;
    if (count > MAX_TENSORS || (count > 0 && from == NULL)) {
        return fail(failure, 0, "systemContextGetBinaryInfo", "a graph's description makes no sense (%u tensors)",
                    count);
    }
    copy->items = calloc(count + 1u, sizeof(*copy->items));
    if (copy->items == NULL) {
        return out_of_memory(failure);
    }
    for (uint32_t i = 0; i < count; i++) {
        copy->count = i + 1;
        if (!copy_one(&copy->items[i], &from[i], failure)) {
            return false;
        }
    }
    return true;
}

bool tensor_bytes(const qnn_tensor *tensor, uint64_t *bytes) {
    static const struct {
        uint8_t code, bytes;
    } widths[] = {{0x08, 1}, {0x16, 2}, {0x32, 4}, {0x64, 8}};
    uint64_t size = 0;
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        if (widths[i].code == (tensor->data_type & 0xff)) {
            size = widths[i].bytes;
        }
    }
    for (uint32_t i = 0; i < tensor->rank && size > 0; i++) {
        if (tensor->dims[i] != 0 && size > UINT32_MAX / tensor->dims[i]) {
            return false; /* a client buffer's size field has 32 bits */
        }
        size *= tensor->dims[i];
    }
    *bytes = size;
    return size > 0;
}

bool tensors_allocate(struct tensors *tensors, struct failure *failure) {
    for (uint32_t i = 0; i < tensors->count; i++) {
        qnn_tensor *tensor = &tensors->items[i];
        uint64_t bytes = 0;
        if (!tensor_bytes(tensor, &bytes)) {
            return fail(failure, 0, "allocate",
                        "tensor '%.200s' has no usable size (data type 0x%04x, rank %u): a dynamic shape or an "
                        "unknown type",
                        tensor->name, tensor->data_type, tensor->rank);
        }
        tensor->buffer.data = calloc(1, bytes);
        if (tensor->buffer.data == NULL) {
            failure->exit_code = EXIT_INTERNAL;
            return fail(failure, 0, "malloc", "out of memory: %llu bytes for tensor '%.200s'",
                        (unsigned long long)bytes, tensor->name);
        }
        tensor->buffer.size = (uint32_t)bytes;
        tensor->memory_type = 0; /* a plain client buffer */
    }
    return true;
}

void tensors_free(struct tensors *tensors) {
    for (uint32_t i = 0; i < tensors->count; i++) {
        free((void *)(size_t)tensors->items[i].name);
        free(tensors->items[i].dims);
        free(tensors->items[i].buffer.data);
    }
    free(tensors->items);
    tensors->items = NULL;
    tensors->count = 0;
}
