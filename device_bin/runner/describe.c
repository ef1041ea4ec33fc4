#include "describe.h"

#include <stdlib.h>
#include <string.h>

#include "exits.h"
#include "report.h"
#include "text.h"

static const char info_call[] = "systemContextGetBinaryInfo";
enum { MAX_GRAPHS = 4096, MAX_NAME = 4096 };

struct content {
    const qnn_graph_info *graphs;
    uint32_t graph_count;
    uint32_t soc_model, arch; /* 0: not told */
};

/* The graph list lies at different places in the versions of the structure. */
static bool find_content(const qnn_binary_info *info, struct content *content, struct failure *failure) {
    memset(content, 0, sizeof(*content));
    if (info->version == 3) {
        content->graphs = info->u.v3.graphs;
        content->graph_count = info->u.v3.graph_count;
        content->soc_model = info->u.v3.soc_model;
        if (info->u.v3.meta != NULL && info->u.v3.meta_size >= sizeof(*info->u.v3.meta)) {
            content->arch = info->u.v3.meta->dsp_arch;
        }
    } else if (info->version == 1 || info->version == 2) {
        content->graphs = info->u.v1.graphs;
        content->graph_count = info->u.v1.graph_count;
    } else {
        return fail(failure, 0, info_call, "its description has the unknown version %u", info->version);
    }
    if (content->graph_count == 0 || content->graph_count > MAX_GRAPHS || content->graphs == NULL) {
        return fail(failure, 0, info_call, "its description names %u graphs", content->graph_count);
    }
    return true;
}

static bool copy_graph(struct graph *graph, const qnn_graph_info *info, struct failure *failure) {
    if (info->version < 1 || info->version > 3 || info->name == NULL) {
        return fail(failure, 0, info_call, "a graph's description makes no sense (version %u)", info->version);
    }
    size_t length = strnlen(info->name, MAX_NAME);
    graph->name = malloc(length + 1);
    if (graph->name == NULL) {
        failure->exit_code = EXIT_INTERNAL;
        return fail(failure, 0, "malloc", "out of memory");
    }
    memcpy(graph->name, info->name, length);
    graph->name[length] = '\0';
    return tensors_copy(&graph->inputs, info->inputs, info->input_count, failure) &&
           tensors_copy(&graph->outputs, info->outputs, info->output_count, failure);
}

static void tell(const struct model *model, const qnn_binary_info *info, const struct content *content) {
    static char json[REPORT_LIMIT - 64]; /* describe_model's caller holds the lock */
    struct text text = text_in(json, sizeof(json));
    text_add(&text, "{\"model\":");
    text_add_json(&text, model->path);
    text_add(&text, ",\"build_id\":");
    text_add_json(&text, info->build_id);
    text_add(&text, ",\"soc_model\":");
    text_add_known(&text, content->soc_model != 0, content->soc_model, "null");
    text_add(&text, ",\"htp_arch\":");
    text_add_known(&text, content->arch != 0, content->arch, "null");
    text_add(&text, ",\"graphs\":[");
    for (size_t i = 0; i < model->graph_count; i++) {
        text_add(&text, i > 0 ? "," : "");
        text_add_json(&text, model->graphs[i].name);
    }
    text_add(&text, "]}");
    if (!text.cut) {
        report("context", json);
    }
}

static bool copy_content(struct model *model, const qnn_binary_info *info, struct failure *failure) {
    struct content content;
    if (!find_content(info, &content, failure)) {
        return false;
    }
    model->graphs = calloc(content.graph_count, sizeof(*model->graphs));
    if (model->graphs == NULL) {
        failure->exit_code = EXIT_INTERNAL;
        return fail(failure, 0, "malloc", "out of memory");
    }
    model->graph_count = content.graph_count;
    for (uint32_t i = 0; i < content.graph_count; i++) {
        if (!copy_graph(&model->graphs[i], &content.graphs[i], failure)) {
            return false;
        }
    }
    tell(model, info, &content);
    return true;
}

bool describe_model(struct model *model, const struct library *library, const void *data, size_t size,
                    struct failure *failure) {
    qnn_handle system = NULL;
    qnn_error error = library->system_create(&system);
    if (error != QNN_OK) {
        return fail(failure, error, "systemContextCreate", "the binary can't be read");
    }
    const qnn_binary_info *info = NULL;
    uint64_t info_size = 0;
    error = library->binary_info(system, (void *)(size_t)data, size, &info, &info_size);
    bool good = error == QNN_OK && info != NULL;
    if (!good) {
        fail(failure, error, info_call, "the context binary can't be read");
    } else {
        good = copy_content(model, info, failure);
    }
    library->system_free(system);
    return good;
}
