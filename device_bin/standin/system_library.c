/* The stand-in for libQnnSystem.so: tells what a context binary holds. It logs nothing, as the real one. */
#include <pthread.h>
#include <stdlib.h>

#include "context_binary.h"

struct system_context {
    struct system_context *next;
    struct binary *binary;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct system_context *contexts;

static struct system_context *find(qnn_handle handle) {
    struct system_context *context = contexts;
    while (context != NULL && context != handle) {
        context = context->next;
    }
    return context;
}

static qnn_error create(qnn_handle *handle) {
    struct system_context *context = handle != NULL ? calloc(1, sizeof(*context)) : NULL;
    if (context == NULL) {
        return QNN_ERROR_BINARY_ARGUMENT;
    }
    pthread_mutex_lock(&lock);
    context->next = contexts;
    contexts = context;
    pthread_mutex_unlock(&lock);
    *handle = context;
    return QNN_OK;
}

static qnn_error get_binary_info(qnn_handle handle, void *data, uint64_t size, const qnn_binary_info **info,
                                 uint64_t *info_size) {
    pthread_mutex_lock(&lock);
    struct system_context *context = find(handle);
    pthread_mutex_unlock(&lock);
    if (context == NULL) {
        return QNN_ERROR_SYSTEM_HANDLE;
    }
    if (data == NULL || size == 0 || info == NULL || info_size == NULL) {
        return QNN_ERROR_BINARY_ARGUMENT;
    }
    qnn_error error = QNN_OK;
    const char *line = NULL;
    struct binary *binary = binary_read(data, size, &error, &line);
    if (binary == NULL) {
        return QNN_ERROR_BINARY_MALFORMED; /* whatever is wrong: so says the real one */
    }
    if (context->binary != NULL) {
        binary_free(context->binary);
    }
    context->binary = binary;
    *info = &binary->info;
    *info_size = 0; /* the real one returns 0 too */
    return QNN_OK;
}

static qnn_error free_context(qnn_handle handle) {
    pthread_mutex_lock(&lock);
    struct system_context **at = &contexts;
    while (*at != NULL && *at != handle) {
        at = &(*at)->next;
    }
    struct system_context *context = *at;
    if (context != NULL) {
        *at = context->next;
    }
    pthread_mutex_unlock(&lock);
    if (context == NULL) {
        return QNN_ERROR_SYSTEM_HANDLE;
    }
    if (context->binary != NULL) {
        binary_free(context->binary);
    }
    free(context);
    return QNN_OK;
}

static struct {
    uint32_t backend_id;
    const char *provider;
    qnn_version system_api;
    uint32_t reserved;
    void *table[QNN_SYSTEM_SLOT_COUNT];
} interface = {0, "SYSTEM_HEAPPROF_STANDIN", {1, 15, 0}, 0,
               {(void *)create, (void *)get_binary_info, NULL, (void *)free_context}};

__attribute__((visibility("default"))) qnn_error
QnnSystemInterface_getProviders(const qnn_system_interface ***list, uint32_t *count);

qnn_error QnnSystemInterface_getProviders(const qnn_system_interface ***list, uint32_t *count) {
    static const qnn_system_interface *interfaces[1];
    if (list == NULL || count == NULL) {
        return QNN_ERROR_BINARY_ARGUMENT;
    }
    interfaces[0] = (const qnn_system_interface *)&interface;
    *list = interfaces;
    *count = 1;
    return QNN_OK;
}
