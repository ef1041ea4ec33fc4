#include "htp_context.h"

#include <pthread.h>
#include <string.h>

#include "context_binary.h"
#include "htp_chain.h"
#include "htp_faults.h"
#include "htp_log.h"
#include "htp_objects.h"
#include "htp_simulated_heap.h"

enum { MAX_CONFIGS = 15, QNN_ERROR_GRAPH_ARGUMENT = 6000, QNN_ERROR_GRAPH_HANDLE = 6003 };

/* What a create is asked for, with the list to pass on to a chained library. */
struct wish {
    bool dsp_profiled;
    qnn_htp_context_option group;
    qnn_context_config group_config;
    const qnn_context_config *passed_on[MAX_CONFIGS + 1];
    size_t passed_count;
};

static qnn_error bad_config(uint32_t option) {
    log_line(QNN_LOG_ERROR, "stand-in: unsupported context option %u", option);
    return QNN_ERROR_CONTEXT_CONFIG;
}

static qnn_error take_config(struct wish *wish, const qnn_context_config *config) {
    const qnn_htp_context_option *option = config->custom;
    if (config->option != 0 || option == NULL) {
        return bad_config(config->option);
    }
    if (option->option == QNN_HTP_OPTION_DSP_MEMORY_PROFILING) {
        if (option->u.enabled && !behaviour()->dsp_profiling) {
            log_line(QNN_LOG_ERROR, "Dsp memory profiling is not supported");
            return QNN_ERROR_UNSUPPORTED;
        }
        wish->dsp_profiled = option->u.enabled;
        return QNN_OK;
    }
    if (option->option != QNN_HTP_OPTION_MULTI_CONTEXTS) {
        return bad_config(option->option);
    }
    qnn_handle first = option->u.group.first_of_group;
    if (first != NULL && object_find(first, OBJECT_CONTEXT) == NULL) {
        log_line(QNN_LOG_ERROR, "stand-in: the group's first context is no live context");
        return QNN_ERROR_CONTEXT_HANDLE;
    }
    wish->group = *option;
    wish->group.u.group.first_of_group = object_real(first, OBJECT_CONTEXT);
    wish->group_config.custom = &wish->group;
    wish->passed_on[wish->passed_count++] = &wish->group_config;
    return QNN_OK;
}

static qnn_error take_configs(struct wish *wish, const qnn_context_config **config) {
    qnn_error error = QNN_OK;
    memset(wish, 0, sizeof(*wish));
    for (size_t i = 0; config != NULL && config[i] != NULL && error == QNN_OK; i++) {
        error = i < MAX_CONFIGS ? take_config(wish, config[i]) : bad_config(config[i]->option);
    }
    return error;
}

/* Reads digits; what follows them, or NULL when there are none. */
static const char *read_number(const char *at, uint64_t *number) {
    const char *start = at;
    for (*number = 0; *at >= '0' && *at <= '9' && at - start < 9; at++) {
        *number = *number * 10 + (uint64_t)(*at - '0');
    }
    return at != start ? at : NULL;
}

/* "v2.51.0..." against the version that standin.conf gives as this library's. */
static qnn_error check_version(const char *build_id) {
    const struct behaviour *b = behaviour();
    uint64_t major = 0, minor = 0;
    if (b->sdk_major == 0 || build_id == NULL || build_id[0] != 'v') {
        return QNN_OK;
    }
    const char *at = read_number(build_id + 1, &major);
    if (at == NULL || *at != '.' || read_number(at + 1, &minor) == NULL) {
        return QNN_OK;
    }
    uint64_t made = major << 32 | minor, own = b->sdk_major << 32 | b->sdk_minor;
    if (made > own) {
        log_line(QNN_LOG_ERROR, "Using newer context binary on old SDK");
        return QNN_ERROR_CONTEXT_ARGUMENT;
    }
    if (made < own) {
        log_line(QNN_LOG_WARN, "Pickle and software version mismatch %s vs v%llu.%llu", build_id,
                 (unsigned long long)b->sdk_major, (unsigned long long)b->sdk_minor);
    }
    return QNN_OK;
}

static struct binary *read_checked(const void *data, uint64_t size, qnn_error *error) {
    const char *line = NULL;
    char blob_line[160];
    struct binary *binary = binary_read(data, size, error, &line);
    if (binary == NULL) {
        log_line(QNN_LOG_ERROR, "%s", line);
        return NULL;
    }
    *error = binary_check_blob(data, size, blob_line, sizeof(blob_line));
    if (*error != QNN_OK) {
        log_line(QNN_LOG_ERROR, "%s", blob_line);
    } else {
        *error = check_version(binary->info.build_id);
    }
    if (*error != QNN_OK) {
        binary_free(binary);
        return NULL;
    }
    return binary;
}

static qnn_error create_real(qnn_handle backend, qnn_handle device, struct wish *wish, const void *data,
                             uint64_t size, qnn_handle *real) {
    if (chain() == NULL) {
        return QNN_OK;
    }
    CHAIN_FUNCTION(qnn_create_from_binary_fn, create, QNN_CONTEXT_CREATE_FROM_BINARY);
    return create(object_real(backend, OBJECT_BACKEND), object_real(device, OBJECT_DEVICE),
                  wish->passed_count > 0 ? wish->passed_on : NULL, data, size, real, NULL);
}

static void say_simulated(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool said;
    pthread_mutex_lock(&lock);
    bool first = !said;
    said = true;
    pthread_mutex_unlock(&lock);
    if (first) {
        log_line(QNN_LOG_WARN, "stand-in HTP library: DSP heap numbers are simulated");
    }
}

static qnn_error create(qnn_handle backend, qnn_handle device, struct wish *wish, const void *data, uint64_t size,
                        struct object **made) {
    qnn_error error = fault(FAULT_CREATE);
    if (error != QNN_OK) {
        return error;
    }
    sleep_ms(behaviour()->create_delay_ms);
    struct binary *binary = read_checked(data, size, &error);
    if (binary == NULL) {
        return error;
    }
    qnn_handle real = NULL;
    error = create_real(backend, device, wish, data, size, &real);
    *made = error == QNN_OK ? object_add(OBJECT_CONTEXT, real) : NULL;
    if (*made == NULL) {
        binary_free(binary);
        return error != QNN_OK ? error : QNN_ERROR_UNSUPPORTED + 2;
    }
    (*made)->binary = binary;
    (*made)->dsp_profiled = wish->dsp_profiled;
    return QNN_OK;
}

qnn_error context_create_from_binary(qnn_handle backend, qnn_handle device, const qnn_context_config **config,
                                     const void *data, uint64_t size, qnn_handle *context, qnn_handle profile) {
    struct wish wish;
    struct object *made = NULL;
    struct object *listener = profile != NULL ? object_find(profile, OBJECT_PROFILE) : NULL;
    if (object_find(backend, OBJECT_BACKEND) == NULL || data == NULL || context == NULL ||
        (device != NULL && object_find(device, OBJECT_DEVICE) == NULL) || (profile != NULL && listener == NULL)) {
        return QNN_ERROR_CONTEXT_ARGUMENT;
    }
    log_file_lines();
    qnn_error error = take_configs(&wish, config);
    if (error != QNN_OK) {
        return error;
    }
    if (wish.dsp_profiled) {
        say_simulated();
    }
    uint64_t bytes = heap_created();
    error = create(backend, device, &wish, data, size, &made);
    if (error != QNN_OK) {
        heap_undo();
        return error;
    }
    *context = made;
    if (listener != NULL && !events_make(&listener->events, false, wish.dsp_profiled, bytes)) {
        log_line(QNN_LOG_WARN, "stand-in: out of memory for events");
    }
    return QNN_OK;
}

qnn_error context_free(qnn_handle handle, qnn_handle profile) {
    struct object *context = object_find(handle, OBJECT_CONTEXT);
    struct object *listener = profile != NULL ? object_find(profile, OBJECT_PROFILE) : NULL;
    if (context == NULL || (profile != NULL && listener == NULL)) {
        return QNN_ERROR_CONTEXT_HANDLE;
    }
    qnn_error error = fault(FAULT_FREE);
    if (error == QNN_OK && chain() != NULL) {
        CHAIN_FUNCTION(qnn_context_free_fn, free_real, QNN_CONTEXT_FREE);
        error = free_real(context->real, NULL);
    }
    if (error != QNN_OK) {
        return error;
    }
    bool dsp_profiled = context->dsp_profiled;
    object_remove(context);
    uint64_t bytes = heap_freed();
    if (listener != NULL && !events_make(&listener->events, true, dsp_profiled, bytes)) {
        log_line(QNN_LOG_WARN, "stand-in: out of memory for events");
    }
    return QNN_OK;
}

qnn_error graph_retrieve(qnn_handle handle, const char *name, qnn_handle *graph) {
    struct object *context = object_find(handle, OBJECT_CONTEXT);
    qnn_handle real = NULL;
    if (context == NULL || name == NULL || graph == NULL) {
        return QNN_ERROR_GRAPH_ARGUMENT;
    }
    qnn_error error = fault(FAULT_RETRIEVE);
    if (error == QNN_OK && chain() != NULL) {
        CHAIN_FUNCTION(qnn_graph_retrieve_fn, retrieve, QNN_GRAPH_RETRIEVE);
        error = retrieve(context->real, name, &real);
    }
    if (error != QNN_OK) {
        return error;
    }
    const qnn_binary_info *info = &context->binary->info;
    for (uint32_t i = 0; i < info->u.v3.graph_count; i++) {
        if (strcmp(info->u.v3.graphs[i].name, name) == 0) {
            struct object *made = object_add(OBJECT_GRAPH, real);
            if (made == NULL) {
                return QNN_ERROR_UNSUPPORTED + 2;
            }
            made->owner = context;
            made->graph = &info->u.v3.graphs[i];
            *graph = made;
            return QNN_OK;
        }
    }
    log_line(QNN_LOG_ERROR, "stand-in: no graph '%s'", name);
    return QNN_ERROR_GRAPH_ARGUMENT;
}

/* The real library checks no sizes and overruns: here a wrong one is an error, so that tests see it. */
static bool tensors_fit(const qnn_tensor *given, uint32_t count, const qnn_tensor *wanted, uint32_t wanted_count) {
    if (count != wanted_count || (count > 0 && given == NULL)) {
        log_line(QNN_LOG_ERROR, "stand-in: %u tensors are given, %u wanted", count, wanted_count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = binary_tensor_bytes(&wanted[i]);
        if (given[i].id != wanted[i].id || given[i].buffer.data == NULL || given[i].buffer.size != bytes) {
            log_line(QNN_LOG_ERROR, "stand-in: tensor '%s' has %llu bytes, given are %u", wanted[i].name,
                     (unsigned long long)bytes, given[i].buffer.size);
            return false;
        }
    }
    return true;
}

qnn_error graph_execute(qnn_handle handle, const qnn_tensor *inputs, uint32_t input_count, qnn_tensor *outputs,
                        uint32_t output_count, qnn_handle profile, qnn_handle signal) {
    struct object *object = object_find(handle, OBJECT_GRAPH);
    (void)profile;
    if (object == NULL) {
        return QNN_ERROR_GRAPH_HANDLE;
    }
    qnn_error error = fault(FAULT_EXECUTE);
    if (error != QNN_OK) {
        return error;
    }
    make_noise();
    sleep_ms(behaviour()->execute_delay_ms);
    const qnn_graph_info *graph = object->graph;
    if (!tensors_fit(inputs, input_count, graph->inputs, graph->input_count) ||
        !tensors_fit(outputs, output_count, graph->outputs, graph->output_count)) {
        return QNN_ERROR_GRAPH_ARGUMENT;
    }
    if (chain() != NULL) {
        CHAIN_FUNCTION(qnn_graph_execute_fn, execute, QNN_GRAPH_EXECUTE);
        return execute(object->real, inputs, input_count, outputs, output_count, NULL, signal);
    }
    for (uint32_t i = 0; i < output_count; i++) {
        memset(outputs[i].buffer.data, 0, outputs[i].buffer.size);
    }
    return QNN_OK;
}
