/* The part of QNN's binary interface that heapprof uses, written from measurements of the real
 * libraries (QAIRT 2.47 and 2.51, LP64); no vendor header was read. Names are our own. Every offset
 * is asserted below, so that a compiler that lays a structure out differently fails the build. */
#ifndef HEAPPROF_QNN_ABI_H
#define HEAPPROF_QNN_ABI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *qnn_handle;
typedef uint64_t qnn_error;

enum {
    QNN_OK = 0,
    QNN_ERROR_UNSUPPORTED = 1000,       /* also: option 4 where DSP memory can't be profiled */
    QNN_ERROR_CONTEXT_ARGUMENT = 5000,  /* empty binary; binary newer than the library */
    QNN_ERROR_CONTEXT_HANDLE = 5002,
    QNN_ERROR_CONTEXT_VERSION = 5005,
    QNN_ERROR_CONTEXT_CONFIG = 5010,
    QNN_ERROR_SYSTEM_HANDLE = 30000,
    QNN_ERROR_BINARY_ARGUMENT = 30001,  /* no context binary at all */
    QNN_ERROR_BINARY_FAILED = 30002,
    QNN_ERROR_BINARY_MALFORMED = 30010, /* truncated, or longer than it says */
};

enum { QNN_BACKEND_HTP = 6 };
enum qnn_log_level { QNN_LOG_ERROR = 1, QNN_LOG_WARN, QNN_LOG_INFO, QNN_LOG_VERBOSE, QNN_LOG_DEBUG };
enum qnn_profile_level { QNN_PROFILE_BASIC = 1, QNN_PROFILE_DETAILED = 2 };
enum qnn_unit { QNN_UNIT_MICROSECONDS = 1, QNN_UNIT_BYTES = 2, QNN_UNIT_CYCLES = 3, QNN_UNIT_COUNT = 4 };
enum qnn_tensor_type { QNN_TENSOR_INPUT = 0, QNN_TENSOR_OUTPUT = 1 };
/* What both quantization fields hold when a tensor is not quantized. */
#define QNN_UNDEFINED 0x7fffffffu

/* Identifiers of the DSP heap events. No public header names their numeric type: match the text. */
#define QNN_EVENT_BEFORE "DSP:before_context_created"
#define QNN_EVENT_AFTER "DSP:after_context_freed"

typedef struct {
    uint32_t major, minor, patch;
} qnn_version;

typedef struct {
    uint32_t backend_id;
    const char *provider;
    qnn_version core_api;
    qnn_version backend_api;
    void *table[]; /* see enum qnn_slot */
} qnn_interface;

typedef struct {
    uint32_t backend_id;
    const char *provider;
    qnn_version system_api;
    uint32_t reserved;
    void *table[]; /* see enum qnn_system_slot */
} qnn_system_interface;

enum qnn_slot {
    QNN_BACKEND_CREATE = 1,
    QNN_BACKEND_GET_API_VERSION = 3,
    QNN_BACKEND_GET_BUILD_ID = 4,
    QNN_BACKEND_FREE = 8,
    QNN_CONTEXT_CREATE_FROM_BINARY = 13,
    QNN_CONTEXT_FREE = 14,
    QNN_GRAPH_RETRIEVE = 20,
    QNN_GRAPH_EXECUTE = 21,
    QNN_LOG_CREATE = 25,
    QNN_LOG_SET_LEVEL = 26,
    QNN_LOG_FREE = 27,
    QNN_PROFILE_CREATE = 28,
    QNN_PROFILE_GET_EVENTS = 30,
    QNN_PROFILE_GET_SUB_EVENTS = 31,
    QNN_PROFILE_GET_EVENT_DATA = 32,
    QNN_PROFILE_FREE = 34,
    QNN_DEVICE_GET_INFRASTRUCTURE = 39,
    QNN_DEVICE_CREATE = 40,
    QNN_DEVICE_FREE = 43,
    QNN_ERROR_GET_MESSAGE = 48,
    QNN_SLOT_COUNT = 49,
};

enum qnn_system_slot {
    QNN_SYSTEM_CONTEXT_CREATE = 0,
    QNN_SYSTEM_CONTEXT_GET_BINARY_INFO = 1,
    QNN_SYSTEM_CONTEXT_FREE = 3,
    QNN_SYSTEM_SLOT_COUNT = 4,
};

typedef struct {
    uint32_t version;
    uint32_t pad;
    uint32_t id;
    const char *name;
    uint32_t type; /* enum qnn_tensor_type */
    uint32_t data_format;
    uint32_t data_type; /* low byte 08, 16, 32, 64: the width in bits */
    uint32_t pad2;
    struct {
        uint32_t definition;
        uint32_t encoding;
        float scale;
        int32_t offset;
        uint8_t rest[24];
    } quantize;
    uint32_t rank;
    uint32_t *dims;
    uint32_t memory_type;
    struct {
        void *data;
        uint32_t size;
    } buffer;
    uint8_t version_2[24];
} qnn_tensor;

/* Common to versions 1, 2 and 3 of the real structure, whose rest is of no use here. */
typedef struct {
    uint32_t version;
    const char *name;
    uint32_t input_count;
    qnn_tensor *inputs;
    uint32_t output_count;
    qnn_tensor *outputs;
    uint8_t rest[40];
} qnn_graph_info;

typedef struct {
    uint32_t version;
    uint32_t pad;
    uint32_t backend_id;
    const char *build_id;
    qnn_version core_api;
    qnn_version backend_api;
    const char *soc_version;
    union {
        struct {
            qnn_version blob_version;
            uint64_t blob_size;
            uint32_t context_tensor_count;
            qnn_tensor *context_tensors;
            uint32_t graph_count;
            qnn_graph_info *graphs;
            void *platform_info;
            uint64_t meta_size;
            struct {
                uint32_t one, dsp_arch;
            } *meta;
            uint32_t soc_model;
        } v3;
        struct {
            qnn_version hardware_version;
            qnn_version blob_version;
            uint64_t hardware_size;
            void *hardware;
            uint64_t blob_size;
            uint32_t context_tensor_count;
            qnn_tensor *context_tensors;
            uint32_t graph_count;
            qnn_graph_info *graphs;
        } v1;
    } u;
} qnn_binary_info;

typedef struct {
    uint32_t type;
    uint32_t unit; /* enum qnn_unit */
    uint64_t value;
    const char *identifier;
} qnn_event;

/* contextCreateFromBinary takes a NULL ended list of pointers to these. */
typedef struct {
    uint32_t option; /* 0: custom */
    void *custom;    /* qnn_htp_context_option */
} qnn_context_config;

enum { QNN_HTP_OPTION_MULTI_CONTEXTS = 2, QNN_HTP_OPTION_DSP_MEMORY_PROFILING = 4 };

typedef struct {
    uint32_t option;
    union {
        bool enabled;
        struct {
            qnn_handle first_of_group; /* NULL for the group's first context */
            uint64_t max_spill_fill;   /* bytes */
        } group;
        uint8_t reserve[56]; /* zeros for what newer libraries may read */
    } u;
} qnn_htp_context_option;

enum { QNN_POWER_DCVS_V3 = 1, QNN_POWER_RPC_CONTROL_LATENCY = 2, QNN_POWER_RPC_POLLING_TIME = 3 };

typedef struct {
    uint32_t context_id;
    uint32_t set_dcvs_enable, dcvs_enable;
    uint32_t power_mode;
    uint32_t set_sleep_latency, sleep_latency;
    uint32_t set_sleep_disable, sleep_disable;
    uint32_t set_bus, bus_min, bus_target, bus_max;
    uint32_t set_core, core_min, core_target, core_max;
} qnn_dcvs_v3;

typedef struct {
    uint32_t option;
    union {
        qnn_dcvs_v3 dcvs;
        uint32_t microseconds;
    } u;
    uint8_t reserve[60]; /* the real structure has 68 bytes; newer ones may have more */
} qnn_power_config;

typedef struct {
    uint32_t type; /* 0: performance */
    qnn_error (*create)(uint32_t device, uint32_t core, uint32_t *id);
    qnn_error (*destroy)(uint32_t id);
    qnn_error (*set)(uint32_t id, const qnn_power_config **list);
} qnn_infrastructure;

typedef void (*qnn_log_callback)(const char *format, uint32_t level, uint64_t time, va_list arguments);

typedef qnn_error (*qnn_get_providers_fn)(const qnn_interface ***list, uint32_t *count);
typedef qnn_error (*qnn_system_get_providers_fn)(const qnn_system_interface ***list, uint32_t *count);
typedef qnn_error (*qnn_log_create_fn)(qnn_log_callback, uint32_t level, qnn_handle *log);
typedef qnn_error (*qnn_log_set_level_fn)(qnn_handle log, uint32_t level);
typedef qnn_error (*qnn_backend_create_fn)(qnn_handle log, const void **config, qnn_handle *backend);
typedef qnn_error (*qnn_get_api_version_fn)(void *version);
typedef qnn_error (*qnn_get_build_id_fn)(const char **id);
typedef qnn_error (*qnn_device_create_fn)(qnn_handle log, const void **config, qnn_handle *device);
typedef qnn_error (*qnn_get_infrastructure_fn)(const qnn_infrastructure **infrastructure);
typedef qnn_error (*qnn_profile_create_fn)(qnn_handle backend, uint32_t level, qnn_handle *profile);
typedef qnn_error (*qnn_get_events_fn)(qnn_handle profile, const uint64_t **ids, uint32_t *count);
typedef qnn_error (*qnn_get_sub_events_fn)(uint64_t id, const uint64_t **ids, uint32_t *count);
typedef qnn_error (*qnn_get_event_data_fn)(uint64_t id, qnn_event *event);
typedef qnn_error (*qnn_create_from_binary_fn)(qnn_handle backend, qnn_handle device,
                                               const qnn_context_config **config, const void *data,
                                               uint64_t size, qnn_handle *context, qnn_handle profile);
typedef qnn_error (*qnn_context_free_fn)(qnn_handle context, qnn_handle profile);
typedef qnn_error (*qnn_graph_retrieve_fn)(qnn_handle context, const char *name, qnn_handle *graph);
typedef qnn_error (*qnn_graph_execute_fn)(qnn_handle graph, const qnn_tensor *inputs, uint32_t input_count,
                                          qnn_tensor *outputs, uint32_t output_count, qnn_handle profile,
                                          qnn_handle signal);
typedef qnn_error (*qnn_free_fn)(qnn_handle); /* log, backend, device, profile, system context */
typedef qnn_error (*qnn_error_message_fn)(qnn_error code, const char **message);
typedef qnn_error (*qnn_system_create_fn)(qnn_handle *context);
typedef qnn_error (*qnn_binary_info_fn)(qnn_handle system, void *data, uint64_t size,
                                        const qnn_binary_info **info, uint64_t *info_size);

#define QNN_AT(type, member, offset) \
    _Static_assert(offsetof(type, member) == (offset), #type "." #member " lies at " #offset)

_Static_assert(sizeof(void *) == 8, "the interface was measured on 64-bit systems only");
QNN_AT(qnn_interface, provider, 8);
QNN_AT(qnn_interface, core_api, 16);
QNN_AT(qnn_interface, backend_api, 28);
QNN_AT(qnn_interface, table, 40);
QNN_AT(qnn_system_interface, provider, 8);
QNN_AT(qnn_system_interface, table, 32);
_Static_assert(sizeof(qnn_tensor) == 144, "a tensor has 144 bytes");
QNN_AT(qnn_tensor, id, 8);
QNN_AT(qnn_tensor, name, 8 + 8);
QNN_AT(qnn_tensor, type, 8 + 16);
QNN_AT(qnn_tensor, data_format, 8 + 20);
QNN_AT(qnn_tensor, data_type, 8 + 24);
QNN_AT(qnn_tensor, quantize, 8 + 32);
QNN_AT(qnn_tensor, quantize.scale, 8 + 40);
QNN_AT(qnn_tensor, rank, 8 + 72);
QNN_AT(qnn_tensor, dims, 8 + 80);
QNN_AT(qnn_tensor, memory_type, 8 + 88);
QNN_AT(qnn_tensor, buffer.data, 8 + 96);
QNN_AT(qnn_tensor, buffer.size, 8 + 104);
_Static_assert(sizeof(qnn_graph_info) == 88, "a graph's information has 88 bytes");
QNN_AT(qnn_graph_info, name, 8);
QNN_AT(qnn_graph_info, input_count, 8 + 8);
QNN_AT(qnn_graph_info, inputs, 8 + 16);
QNN_AT(qnn_graph_info, output_count, 8 + 24);
QNN_AT(qnn_graph_info, outputs, 8 + 32);
_Static_assert(sizeof(qnn_binary_info) == 144, "a binary's information has 144 bytes");
QNN_AT(qnn_binary_info, backend_id, 8);
QNN_AT(qnn_binary_info, build_id, 8 + 8);
QNN_AT(qnn_binary_info, core_api, 8 + 16);
QNN_AT(qnn_binary_info, backend_api, 8 + 28);
QNN_AT(qnn_binary_info, soc_version, 8 + 40);
QNN_AT(qnn_binary_info, u.v3.blob_version, 8 + 48);
QNN_AT(qnn_binary_info, u.v3.blob_size, 8 + 64);
QNN_AT(qnn_binary_info, u.v3.context_tensor_count, 8 + 72);
QNN_AT(qnn_binary_info, u.v3.graph_count, 8 + 88);
QNN_AT(qnn_binary_info, u.v3.graphs, 8 + 96);
QNN_AT(qnn_binary_info, u.v3.platform_info, 8 + 104);
QNN_AT(qnn_binary_info, u.v3.meta_size, 8 + 112);
QNN_AT(qnn_binary_info, u.v3.meta, 8 + 120);
QNN_AT(qnn_binary_info, u.v3.soc_model, 8 + 128);
QNN_AT(qnn_binary_info, u.v1.hardware_version, 8 + 48);
QNN_AT(qnn_binary_info, u.v1.blob_version, 8 + 60);
QNN_AT(qnn_binary_info, u.v1.hardware_size, 8 + 72);
QNN_AT(qnn_binary_info, u.v1.blob_size, 8 + 88);
QNN_AT(qnn_binary_info, u.v1.graph_count, 8 + 112);
QNN_AT(qnn_binary_info, u.v1.graphs, 8 + 120);
QNN_AT(qnn_event, unit, 4);
QNN_AT(qnn_event, value, 8);
QNN_AT(qnn_event, identifier, 16);
QNN_AT(qnn_context_config, custom, 8);
QNN_AT(qnn_htp_context_option, u, 8);
QNN_AT(qnn_htp_context_option, u.group.max_spill_fill, 16);
_Static_assert(sizeof(qnn_dcvs_v3) == 64, "DCVS_V3 is 16 words");
QNN_AT(qnn_power_config, u, 4);
QNN_AT(qnn_power_config, reserve, 68);
QNN_AT(qnn_infrastructure, create, 8);
QNN_AT(qnn_infrastructure, destroy, 16);
QNN_AT(qnn_infrastructure, set, 24);

#endif
