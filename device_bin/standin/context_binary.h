/* QNN context binaries, checked as the real libraries check them and read without them. */
#ifndef STANDIN_CONTEXT_BINARY_H
#define STANDIN_CONTEXT_BINARY_H

#include <stddef.h>

#include "qnn_abi.h"

struct binary {
    qnn_binary_info info; /* version 3, as the real libraries give it */
    struct chunk *chunks; /* memory of everything that info points to */
    size_t chunk_bytes;
};

/* Reads `size` bytes. NULL: *error has the real library's code, *line its log line. */
struct binary *binary_read(const void *data, size_t size, qnn_error *error, const char **line);

/* Checks the blob as contextCreateFromBinary does; the code, and its log line in `line`. */
qnn_error binary_check_blob(const void *data, size_t size, char *line,
                            size_t capacity);

void binary_free(struct binary *binary);

/* Bytes of a tensor, 0 when it has no usable size. */
uint64_t binary_tensor_bytes(const qnn_tensor *tensor);

#endif
