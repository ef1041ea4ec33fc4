#include "context_binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flatbuffer.h"

enum {
    HEADER_BYTES = 0x28,
    MAX_RANK = 32,
    MAX_CHUNK_BYTES = 64 * 1024 * 1024, /* tables may share parts: a small file can describe a huge one */
    MAX_MAJOR = 4,
    MIN_MAJOR = 2,
};

/* Fields of the metadata's tables; device_bin/README.md tells how they were found. */
enum { CONTENTS = 0, CONTENTS_INFO = 2 };
enum {
    INFO_BACKEND = 0,
    INFO_BUILD_ID = 1,
    INFO_CORE_API = 2,
    INFO_BACKEND_API = 3,
    INFO_BLOB_VERSION = 5,
    INFO_GRAPHS = 10,
    INFO_BLOB_SIZE = 11,
    INFO_META = 15,
    INFO_SOC_MODEL = 16,
};
enum { GRAPH_CONTENT = 2, GRAPH_NAME = 0, GRAPH_INPUTS = 2, GRAPH_OUTPUTS = 4 };
enum {
    TENSOR_ID = 0,
    TENSOR_TYPE = 1,
    TENSOR_FORMAT = 2,
    TENSOR_DATA_TYPE = 3,
    TENSOR_QUANTIZED = 4,
    TENSOR_ENCODING = 5,
    TENSOR_DIMS = 7,
    TENSOR_NAME = 9,
    TENSOR_SCALE_OFFSET = 15,
};

static const uint8_t signature[16] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1};
static const char no_blob[] = "Serializer failed to get context blob.";

struct chunk {
    struct chunk *next;
    uint64_t memory[];
};

struct reader {
    struct flat flat;
    struct binary *binary;
};

static void *take(struct reader *reader, size_t count, size_t width) {
    struct binary *binary = reader->binary;
    size_t bytes = count * width; /* both are bounded by the file's size */
    if (bytes > MAX_CHUNK_BYTES - binary->chunk_bytes) {
        reader->flat.bad = true;
        return NULL;
    }
    struct chunk *chunk = calloc(1, sizeof(*chunk) + bytes + 1);
    if (chunk == NULL) {
        reader->flat.bad = true;
        return NULL;
    }
    chunk->next = binary->chunks;
    binary->chunks = chunk;
    binary->chunk_bytes += bytes + 64;
    return chunk->memory;
}

static char *take_text(struct reader *reader, flat_table table, unsigned field) {
    struct flat_vector text = flat_vector_of(&reader->flat, table, field, 1);
    char *copy = take(reader, text.count + (size_t)1, 1);
    if (copy != NULL && text.count > 0) {
        memcpy(copy, reader->flat.data + text.at, text.count);
    }
    return copy;
}

static void read_quantization(struct reader *reader, flat_table table, qnn_tensor *tensor) {
    tensor->quantize.definition = flat_u32(&reader->flat, table, TENSOR_QUANTIZED, QNN_UNDEFINED);
    if (tensor->quantize.definition == QNN_UNDEFINED) {
        tensor->quantize.encoding = QNN_UNDEFINED;
        return;
    }
    tensor->quantize.encoding = flat_u32(&reader->flat, table, TENSOR_ENCODING, 0);
    if (tensor->quantize.encoding == 0) {
        flat_table pair = flat_child(&reader->flat, table, TENSOR_SCALE_OFFSET);
        flat_bytes(&reader->flat, pair, 0, &tensor->quantize.scale, sizeof(float));
        flat_bytes(&reader->flat, pair, 1, &tensor->quantize.offset, sizeof(int32_t));
    }
}

static void read_tensor(struct reader *reader, flat_table table, qnn_tensor *tensor) {
    struct flat *flat = &reader->flat;
    struct flat_vector dims = flat_vector_of(flat, table, TENSOR_DIMS, 4);
    if (table == 0 || dims.count > MAX_RANK) {
        flat->bad = true;
        return;
    }
    tensor->version = 1;
    tensor->id = flat_u32(flat, table, TENSOR_ID, 0);
    tensor->type = flat_u32(flat, table, TENSOR_TYPE, QNN_TENSOR_INPUT);
    tensor->data_format = flat_u32(flat, table, TENSOR_FORMAT, 0);
    tensor->data_type = flat_u32(flat, table, TENSOR_DATA_TYPE, 0);
    tensor->name = take_text(reader, table, TENSOR_NAME);
    tensor->rank = dims.count;
    tensor->dims = take(reader, dims.count, sizeof(*tensor->dims));
    read_quantization(reader, table, tensor);
    for (uint32_t i = 0; i < dims.count && tensor->dims != NULL; i++) {
        tensor->dims[i] = flat_read_u32(flat, dims.at + 4 * (size_t)i);
    }
}

static qnn_tensor *read_tensors(struct reader *reader, flat_table graph, unsigned field, uint32_t *count) {
    struct flat_vector vector = flat_vector_of(&reader->flat, graph, field, 4);
    qnn_tensor *tensors = take(reader, vector.count, sizeof(*tensors));
    *count = 0;
    for (uint32_t i = 0; i < vector.count && !reader->flat.bad; i++) {
        read_tensor(reader, flat_element(&reader->flat, vector, i), &tensors[i]);
        *count = i + 1;
    }
    return tensors;
}

static void read_graph(struct reader *reader, flat_table entry, qnn_graph_info *graph) {
    /* Three tables around the real one: the versions of the structure, each in the next. */
    flat_table table = flat_child(&reader->flat, entry, GRAPH_CONTENT);
    table = flat_child(&reader->flat, table, 0);
    table = flat_child(&reader->flat, table, 0);
    if (table == 0) {
        reader->flat.bad = true;
        return;
    }
    graph->version = 3;
    graph->name = take_text(reader, table, GRAPH_NAME);
    graph->inputs = read_tensors(reader, table, GRAPH_INPUTS, &graph->input_count);
    graph->outputs = read_tensors(reader, table, GRAPH_OUTPUTS, &graph->output_count);
}

static void read_info(struct reader *reader) {
    struct flat *flat = &reader->flat;
    qnn_binary_info *info = &reader->binary->info;
    flat_table table = flat_child(flat, flat_root(flat), CONTENTS);
    table = flat_child(flat, table, CONTENTS_INFO);
    struct flat_vector graphs = flat_vector_of(flat, table, INFO_GRAPHS, 4);
    if (table == 0 || graphs.count == 0) {
        flat->bad = true;
        return;
    }
    info->version = 3;
    info->backend_id = flat_u32(flat, table, INFO_BACKEND, 0);
    info->build_id = take_text(reader, table, INFO_BUILD_ID);
    flat_bytes(flat, table, INFO_CORE_API, &info->core_api, sizeof(info->core_api));
    flat_bytes(flat, table, INFO_BACKEND_API, &info->backend_api, sizeof(info->backend_api));
    flat_bytes(flat, table, INFO_BLOB_VERSION, &info->u.v3.blob_version, sizeof(info->u.v3.blob_version));
    info->soc_version = "";
    info->u.v3.blob_size = flat_u64(flat, table, INFO_BLOB_SIZE);
    info->u.v3.soc_model = flat_u32(flat, table, INFO_SOC_MODEL, 0);
    struct flat_vector meta = flat_vector_of(flat, table, INFO_META, 1);
    info->u.v3.meta = take(reader, 1, sizeof(*info->u.v3.meta));
    if (meta.count == sizeof(*info->u.v3.meta) && info->u.v3.meta != NULL) {
        memcpy(info->u.v3.meta, flat->data + meta.at, meta.count);
        info->u.v3.meta_size = meta.count;
    }
    info->u.v3.graphs = take(reader, graphs.count, sizeof(*info->u.v3.graphs));
    for (uint32_t i = 0; i < graphs.count && !flat->bad; i++) {
        read_graph(reader, flat_element(flat, graphs, i), &info->u.v3.graphs[i]);
        info->u.v3.graph_count = i + 1;
    }
}

static uint64_t header_word(const uint8_t *data, size_t at) {
    uint64_t value;
    memcpy(&value, data + at, sizeof(value));
    return value;
}

static qnn_error check_header(const uint8_t *data, size_t size, const char **line) {
    *line = no_blob;
    if (size == 0) {
        *line = "invalid binary buffer size passed";
        return QNN_ERROR_CONTEXT_ARGUMENT;
    }
    if (size < sizeof(signature) || memcmp(data, signature, sizeof(signature)) != 0) {
        return QNN_ERROR_BINARY_ARGUMENT;
    }
    if (size < HEADER_BYTES) {
        return QNN_ERROR_BINARY_MALFORMED;
    }
    uint64_t metadata = header_word(data, 0x10), offset = header_word(data, 0x18), blob = header_word(data, 0x20);
    bool exact = offset <= size && blob == size - offset;
    if (!exact || offset < HEADER_BYTES || metadata > offset - HEADER_BYTES) {
        return QNN_ERROR_BINARY_MALFORMED;
    }
    return QNN_OK;
}

struct binary *binary_read(const void *data, size_t size, qnn_error *error, const char **line) {
    *error = check_header(data, size, line);
    if (*error != QNN_OK) {
        return NULL;
    }
    struct binary *binary = calloc(1, sizeof(*binary));
    if (binary == NULL) {
        *error = QNN_ERROR_BINARY_FAILED;
        return NULL;
    }
    struct reader reader = {{(const uint8_t *)data + HEADER_BYTES, header_word(data, 0x10), false}, binary};
    read_info(&reader);
    if (reader.flat.bad) {
        binary_free(binary);
        *error = QNN_ERROR_BINARY_MALFORMED;
        return NULL;
    }
    return binary;
}

/* The blob carries "soc_type=SM8850;arch=81;" at a place that varies. */
static bool has_stamp(const uint8_t *blob, size_t size) {
    static const char stamp[] = "soc_type=";
    const uint8_t *at = blob, *end = blob + size;
    while (at < end && (at = memchr(at, stamp[0], (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= sizeof(stamp) - 1 && memcmp(at, stamp, sizeof(stamp) - 1) == 0) {
            return true;
        }
        at++;
    }
    return false;
}

qnn_error binary_check_blob(const void *data, size_t size, char *line,
                            size_t capacity) {
    uint64_t offset = header_word(data, 0x18);
    const uint8_t *blob = (const uint8_t *)data + offset;
    size_t left = size - (size_t)offset;
    uint64_t version[3] = {0, 0, 0};
    if (left >= sizeof(version)) {
        memcpy(version, blob, sizeof(version));
    }
    if (version[0] < MIN_MAJOR || version[0] > MAX_MAJOR) {
        snprintf(line, capacity, "Unsupported buffer version %llu.%llu.%llu (supported: 2.x, 3.x, 4.x)",
                 (unsigned long long)version[0], (unsigned long long)version[1], (unsigned long long)version[2]);
        return QNN_ERROR_CONTEXT_VERSION;
    }
    if (!has_stamp(blob, left)) {
        snprintf(line, capacity, "Flatbuffer validation failed");
        return QNN_ERROR_CONTEXT_VERSION;
    }
    return QNN_OK;
}

void binary_free(struct binary *binary) {
    while (binary->chunks != NULL) {
        struct chunk *next = binary->chunks->next;
        free(binary->chunks);
        binary->chunks = next;
    }
    free(binary);
}

uint64_t binary_tensor_bytes(const qnn_tensor *tensor) {
    uint32_t width = tensor->data_type & 0xff;
    uint64_t bytes = width == 0x08 ? 1 : width == 0x16 ? 2 : width == 0x32 ? 4 : width == 0x64 ? 8 : 0;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] != 0 && bytes > UINT32_MAX / tensor->dims[i]) {
            return 0;
        }
        bytes *= tensor->dims[i];
    }
    return bytes;
}
