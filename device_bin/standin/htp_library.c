/* The stand-in for libQnnHtp.so: the entry point, and the calls that aren't about contexts. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "htp_behaviour.h"
#include "htp_chain.h"
#include "htp_context.h"
#include "htp_faults.h"
#include "htp_log.h"
#include "htp_objects.h"

enum {
    QNN_ERROR_OUT_OF_MEMORY = 1002,
    QNN_ERROR_BACKEND_CONFIG = 4001,
    QNN_ERROR_BACKEND_HANDLE = 4003,
    QNN_ERROR_PROFILE_HANDLE = 7001,
    QNN_ERROR_LOG_HANDLE = 8002,
    QNN_ERROR_DEVICE_HANDLE = 14003,
};

static qnn_error give(enum object_kind kind, qnn_handle real, qnn_handle *handle) {
    struct object *object = object_add(kind, real);
    *handle = object;
    return object != NULL ? QNN_OK : (qnn_error)QNN_ERROR_OUT_OF_MEMORY;
}

static qnn_error log_create(qnn_log_callback callback, uint32_t level, qnn_handle *log) {
    qnn_error error = fault(FAULT_LOG);
    qnn_handle real = NULL;
    if (error != QNN_OK) {
        return error;
    }
    log_to(callback, level);
    if (chain() != NULL) {
        CHAIN_FUNCTION(qnn_log_create_fn, create, QNN_LOG_CREATE);
        error = create(callback, level, &real);
    }
    return error != QNN_OK ? error : give(OBJECT_LOG, real, log);
}

/* Ends one of our objects, and the chained library's behind it. */
static qnn_error end(qnn_handle handle, enum object_kind kind, unsigned slot, qnn_error no_handle) {
    struct object *object = object_find(handle, kind);
    if (object == NULL) {
        return no_handle;
    }
    if (chain() != NULL && object->real != NULL) {
        CHAIN_FUNCTION(qnn_free_fn, release, slot);
        release(object->real);
    }
    object_remove(object);
    return QNN_OK;
}

static qnn_error log_set(qnn_handle log, uint32_t level) {
    if (object_find(log, OBJECT_LOG) == NULL) {
        return QNN_ERROR_LOG_HANDLE;
    }
    log_set_level(level);
    return QNN_OK;
}

static qnn_error log_free(qnn_handle log) {
    qnn_error error = end(log, OBJECT_LOG, QNN_LOG_FREE, QNN_ERROR_LOG_HANDLE);
    if (error == QNN_OK) {
        log_to(NULL, 0);
    }
    return error;
}

static qnn_error backend_create(qnn_handle log, const void **config, qnn_handle *backend) {
    const char *problem = behaviour()->problem;
    qnn_handle real = NULL;
    bool chained = chain() != NULL;
    problem = problem[0] != '\0' ? problem : chain_problem();
    if (problem[0] != '\0') {
        log_line(QNN_LOG_ERROR, "%s", problem);
        return QNN_ERROR_BACKEND_CONFIG;
    }
    qnn_error error = fault(FAULT_BACKEND);
    if (error == QNN_OK && chained) {
        CHAIN_FUNCTION(qnn_backend_create_fn, create, QNN_BACKEND_CREATE);
        error = create(object_real(log, OBJECT_LOG), config, &real);
    }
    return error != QNN_OK ? error : give(OBJECT_BACKEND, real, backend);
}

static qnn_error backend_free(qnn_handle backend) {
    return end(backend, OBJECT_BACKEND, QNN_BACKEND_FREE, QNN_ERROR_BACKEND_HANDLE);
}

static qnn_error get_build_id(const char **id) {
    static char text[256];
    const char *real = NULL;
    if (chain() != NULL) {
        CHAIN_FUNCTION(qnn_get_build_id_fn, get, QNN_BACKEND_GET_BUILD_ID);
        get(&real);
    }
    snprintf(text, sizeof(text), "%s%s%s", behaviour()->build_id, real != NULL ? "+" : "", real != NULL ? real : "");
    *id = text;
    return QNN_OK;
}

static qnn_error device_create(qnn_handle log, const void **config, qnn_handle *device) {
    qnn_error error = fault(FAULT_DEVICE);
    qnn_handle real = NULL;
    if (error == QNN_OK && chain() != NULL) {
        CHAIN_FUNCTION(qnn_device_create_fn, create, QNN_DEVICE_CREATE);
        error = create(object_real(log, OBJECT_LOG), config, &real);
    }
    return error != QNN_OK ? error : give(OBJECT_DEVICE, real, device);
}

static qnn_error device_free(qnn_handle device) {
    return end(device, OBJECT_DEVICE, QNN_DEVICE_FREE, QNN_ERROR_DEVICE_HANDLE);
}

/* Power votes: held as one, and told in the log, so that a test sees an unbalanced one. */
static uint32_t power_configs;

static qnn_error power_create(uint32_t device, uint32_t core, uint32_t *id) {
    (void)device;
    (void)core;
    *id = ++power_configs;
    log_line(QNN_LOG_INFO, "power config %u created", *id);
    return QNN_OK;
}

static qnn_error power_destroy(uint32_t id) {
    if (id == 0 || id > power_configs) {
        return QNN_ERROR_DEVICE_HANDLE;
    }
    log_line(QNN_LOG_INFO, "power config %u destroyed", id);
    return QNN_OK;
}

static qnn_error power_set(uint32_t id, const qnn_power_config **list) {
    qnn_error error = fault(FAULT_POWER);
    if (error != QNN_OK) {
        return error;
    }
    if (id == 0 || id > power_configs || list == NULL) {
        return QNN_ERROR_DEVICE_HANDLE;
    }
    for (; *list != NULL; list++) {
        const qnn_dcvs_v3 *vote = &(*list)->u.dcvs;
        if ((*list)->option == QNN_POWER_DCVS_V3) {
            log_line(QNN_LOG_INFO, "power vote %u: dcvs %u mode 0x%x latency %u bus 0x%x 0x%x 0x%x core 0x%x 0x%x 0x%x",
                     vote->context_id, vote->dcvs_enable, vote->power_mode, vote->sleep_latency, vote->bus_min,
                     vote->bus_target, vote->bus_max, vote->core_min, vote->core_target, vote->core_max);
        } else {
            log_line(QNN_LOG_INFO, "power option %u: %u us", (*list)->option, (*list)->u.microseconds);
        }
    }
    return QNN_OK;
}

static qnn_error get_infrastructure(const qnn_infrastructure **infrastructure) {
    static const qnn_infrastructure own = {0, power_create, power_destroy, power_set};
    if (chain() != NULL) {
        CHAIN_FUNCTION(qnn_get_infrastructure_fn, get, QNN_DEVICE_GET_INFRASTRUCTURE);
        return get(infrastructure);
    }
    *infrastructure = &own;
    return QNN_OK;
}

static qnn_error profile_create(qnn_handle backend, uint32_t level, qnn_handle *profile) {
    qnn_error error = fault(FAULT_PROFILE);
    if (error != QNN_OK) {
        return error;
    }
    if (object_find(backend, OBJECT_BACKEND) == NULL || level < QNN_PROFILE_BASIC || level > QNN_PROFILE_DETAILED) {
        return QNN_ERROR_PROFILE_HANDLE;
    }
    return give(OBJECT_PROFILE, NULL, profile);
}

static qnn_error profile_free(qnn_handle profile) {
    return end(profile, OBJECT_PROFILE, QNN_PROFILE_FREE, QNN_ERROR_PROFILE_HANDLE);
}

static qnn_error get_events(qnn_handle handle, const uint64_t **ids, uint32_t *count) {
    struct object *profile = object_find(handle, OBJECT_PROFILE);
    qnn_error error = fault(FAULT_EVENTS);
    if (error != QNN_OK) {
        return error;
    }
    if (profile == NULL) {
        return QNN_ERROR_PROFILE_HANDLE;
    }
    *ids = profile->events.ids;
    *count = behaviour()->nested && profile->events.count > 1 ? 1 : profile->events.count;
    return QNN_OK;
}

static qnn_error get_sub_events(uint64_t id, const uint64_t **ids, uint32_t *count) {
    const struct event_list *list = object_find_events(id);
    *ids = NULL;
    *count = 0;
    if (list == NULL) {
        return QNN_ERROR_PROFILE_HANDLE;
    }
    if (behaviour()->nested && id == list->ids[0]) {
        *ids = list->ids + 1;
        *count = list->count - 1;
    }
    return QNN_OK;
}

static qnn_error get_event_data(uint64_t id, qnn_event *event) {
    if (object_find_events(id) == NULL) {
        return QNN_ERROR_PROFILE_HANDLE;
    }
    *event = *(const qnn_event *)(size_t)id; /* ids are the addresses of the events */
    return QNN_OK;
}

/* As the real one: no text for 13xxx and 30xxx. */
static qnn_error error_message(qnn_error code, const char **message) {
    static const struct {
        qnn_error code;
        const char *text;
    } texts[] = {
        {1000, "stand-in: the feature is not supported"},
        {1002, "stand-in: memory allocation failed"},
        {4001, "stand-in: the backend's configuration is unusable"},
        {5000, "stand-in: invalid argument to a context call"},
        {5002, "stand-in: invalid context handle"},
        {5005, "stand-in: failure to create context from binary"},
        {5010, "stand-in: unsupported context configuration"},
        {6000, "stand-in: invalid argument to a graph call"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].code == code) {
            *message = texts[i].text;
            return QNN_OK;
        }
    }
    return QNN_ERROR_UNSUPPORTED;
}

static struct {
    uint32_t backend_id;
    const char *provider;
    qnn_version core_api;
    qnn_version backend_api;
    void *table[QNN_SLOT_COUNT];
} interface = {
    QNN_BACKEND_HTP,
    "HTP_HEAPPROF_STANDIN",
    {2, 40, 0},
    {5, 51, 0},
    {
        [QNN_BACKEND_CREATE] = (void *)backend_create,
        [QNN_BACKEND_GET_BUILD_ID] = (void *)get_build_id,
        [QNN_BACKEND_FREE] = (void *)backend_free,
        [QNN_CONTEXT_CREATE_FROM_BINARY] = (void *)context_create_from_binary,
        [QNN_CONTEXT_FREE] = (void *)context_free,
        [QNN_GRAPH_RETRIEVE] = (void *)graph_retrieve,
        [QNN_GRAPH_EXECUTE] = (void *)graph_execute,
        [QNN_LOG_CREATE] = (void *)log_create,
        [QNN_LOG_SET_LEVEL] = (void *)log_set,
        [QNN_LOG_FREE] = (void *)log_free,
        [QNN_PROFILE_CREATE] = (void *)profile_create,
        [QNN_PROFILE_GET_EVENTS] = (void *)get_events,
        [QNN_PROFILE_GET_SUB_EVENTS] = (void *)get_sub_events,
        [QNN_PROFILE_GET_EVENT_DATA] = (void *)get_event_data,
        [QNN_PROFILE_FREE] = (void *)profile_free,
        [QNN_DEVICE_GET_INFRASTRUCTURE] = (void *)get_infrastructure,
        [QNN_DEVICE_CREATE] = (void *)device_create,
        [QNN_DEVICE_FREE] = (void *)device_free,
        [QNN_ERROR_GET_MESSAGE] = (void *)error_message,
    },
};

__attribute__((visibility("default"))) qnn_error QnnInterface_getProviders(const qnn_interface ***list,
                                                                           uint32_t *count);

qnn_error QnnInterface_getProviders(const qnn_interface ***list, uint32_t *count) {
    static const qnn_interface *interfaces[1];
    if (list == NULL || count == NULL) {
        return QNN_ERROR_CONTEXT_ARGUMENT;
    }
    interfaces[0] = (const qnn_interface *)&interface;
    *list = interfaces;
    *count = 1;
    return QNN_OK;
}
