/* The two QNN libraries: found, loaded, and their function tables checked. */
#ifndef HEAPPROF_LIBRARY_H
#define HEAPPROF_LIBRARY_H

#include <stdbool.h>

#include "failure.h"
#include "qnn_abi.h"

struct library {
    const qnn_interface *interface;
    char path[512]; /* where the HTP library was found, or the name it was loaded by */
    qnn_log_create_fn log_create;
    qnn_free_fn log_free;
    qnn_backend_create_fn backend_create;
    qnn_get_build_id_fn get_build_id;
    qnn_free_fn backend_free;
    qnn_device_create_fn device_create;
    qnn_free_fn device_free;
    qnn_get_infrastructure_fn get_infrastructure;
    qnn_profile_create_fn profile_create;
    qnn_get_events_fn get_events;
    qnn_get_sub_events_fn get_sub_events; /* may be NULL */
    qnn_get_event_data_fn get_event_data;
    qnn_free_fn profile_free;
    qnn_create_from_binary_fn create_from_binary;
    qnn_context_free_fn context_free;
    qnn_graph_retrieve_fn graph_retrieve;
    qnn_graph_execute_fn graph_execute;
    qnn_error_message_fn error_message;
    qnn_system_create_fn system_create;
    qnn_binary_info_fn binary_info;
    qnn_free_fn system_free;
};

/* Loads both libraries; they stay loaded until the process ends, as vendor libraries survive
 * dlclose badly. */
bool library_load(struct library *library, const char *backend, const char *system, struct failure *failure);

/* Appends to the failure's message what the code means, and the library's first error line since
 * library_forget_errors(): the first names the cause, the later ones only pass it on. */
void library_explain(const struct library *library, struct failure *failure);

/* The JSON object of the status file's "library". */
size_t library_json(const struct library *library, const char *build_id, char *json, size_t capacity);

/* The callback to give to logCreate: writes the library's lines to stderr. */
void library_log(const char *format, uint32_t level, uint64_t time, va_list arguments);

/* Called where a stage begins. */
void library_forget_errors(void);

#endif
