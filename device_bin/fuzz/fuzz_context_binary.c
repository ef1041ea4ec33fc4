/* Fuzzes the stand-in's reader of context binaries.
 *
 * Most damage to a whole file ends at the header's check of the length, so the input is the metadata
 * and what follows; the harness puts a header before it that fits. After an odd first byte the input is a whole file. */
#include <stdlib.h>
#include <string.h>

#include "context_binary.h"

enum { HEADER = 0x28 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t look_at(const qnn_tensor *tensors, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += strlen(tensors[i].name) + binary_tensor_bytes(&tensors[i]) + (uint64_t)tensors[i].quantize.offset;
    }
    return sum;
}

static void read_whole(const uint8_t *data, size_t size) {
    volatile uint64_t sum = 0;
    qnn_error error = QNN_OK;
    const char *line = NULL;
    char blob_line[160];
    struct binary *binary = binary_read(data, size, &error, &line);
    if ((binary == NULL) != (error != QNN_OK) || line == NULL) {
        abort();
    }
    if (binary == NULL) {
        return;
    }
    binary_check_blob(data, size, blob_line, sizeof(blob_line));
    const qnn_binary_info *info = &binary->info;
    sum += strlen(info->build_id) + info->u.v3.meta->dsp_arch;
    for (uint32_t i = 0; i < info->u.v3.graph_count; i++) {
        const qnn_graph_info *graph = &info->u.v3.graphs[i];
        sum += strlen(graph->name) + look_at(graph->inputs, graph->input_count);
        sum += look_at(graph->outputs, graph->output_count);
    }
    binary_free(binary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t start[16] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1};
    if (size == 0 || data[0] % 2 != 0) {
        read_whole(size > 0 ? data + 1 : data, size > 0 ? size - 1 : 0);
        return 0;
    }
    uint8_t *whole = malloc(HEADER + size);
    uint64_t words[3] = {size - size / 4, HEADER + size - size / 4, size / 4};
    memcpy(whole, start, sizeof(start));
    memcpy(whole + sizeof(start), words, sizeof(words));
    memcpy(whole + HEADER, data, size);
    whole[HEADER] &= 0xfe; /* the byte that chose this way is the metadata's first */
    read_whole(whole, HEADER + size);
    free(whole);
    return 0;
}
