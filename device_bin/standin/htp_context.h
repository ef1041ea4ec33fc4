/* Contexts and graphs of the stand-in: the functions of its table. */
#ifndef STANDIN_CONTEXT_H
#define STANDIN_CONTEXT_H

#include "qnn_abi.h"

qnn_error context_create_from_binary(qnn_handle backend, qnn_handle device, const qnn_context_config **config,
                                     const void *data, uint64_t size, qnn_handle *context, qnn_handle profile);
qnn_error context_free(qnn_handle context, qnn_handle profile);
qnn_error graph_retrieve(qnn_handle context, const char *name, qnn_handle *graph);
qnn_error graph_execute(qnn_handle graph, const qnn_tensor *inputs, uint32_t input_count, qnn_tensor *outputs,
                        uint32_t output_count, qnn_handle profile, qnn_handle signal);

#endif
