#include "model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "exits.h"
#include "files.h"
#include "text.h"

static pthread_mutex_t describe_lock = PTHREAD_MUTEX_INITIALIZER;

/* The options of one context; the lists point into this structure. */
struct create_config {
    qnn_htp_context_option memory, group;
    qnn_context_config configs[2];
    const qnn_context_config *list[3];
};

static const qnn_context_config **configure(struct create_config *config, const struct session *session) {
    size_t count = 0;
    memset(config, 0, sizeof(*config));
    if (session->heap.wanted) {
        config->memory.option = QNN_HTP_OPTION_DSP_MEMORY_PROFILING;
        config->memory.u.enabled = true;
        config->configs[count++].custom = &config->memory;
    }
    if (session->options->spill_fill > 0) {
        config->group.option = QNN_HTP_OPTION_MULTI_CONTEXTS;
        config->group.u.group.first_of_group = session->first_context;
        config->group.u.group.max_spill_fill = session->options->spill_fill;
        config->configs[count++].custom = &config->group;
    }
    for (size_t i = 0; i < count; i++) {
        config->list[i] = &config->configs[i];
    }
    return count > 0 ? config->list : NULL;
}

static bool create_failed(const struct session *session, qnn_error error, struct failure *failure) {
    static const char call[] = "contextCreateFromBinary";
    if (error == QNN_ERROR_UNSUPPORTED && session->heap.wanted) {
        return fail(failure, error, call,
                    "this library can't profile DSP memory, which --heap_profiling_path asks for; the x86 "
                    "emulator never can, and on a device the QNN SDK has to be new enough");
    }
    if (error == QNN_ERROR_CONTEXT_CONFIG && session->options->spill_fill > 0) {
        return fail(failure, error, call, "this library can't share a spill-fill buffer between contexts");
    }
    return fail(failure, error, call, "the context can't be created");
}

static bool create_context(struct model *model, struct session *session, const struct map *map,
                           struct failure *failure) {
    struct create_config config;
    qnn_handle context = NULL;
    qnn_handle profile = heap_enter_create(&session->heap);
    const qnn_context_config **list = configure(&config, session);
    qnn_error error = session->library.create_from_binary(session->backend, session->device, list,
                                                          map->data != NULL ? (const void *)map->data : "",
                                                          map->size, &context, profile);
    bool created = error == QNN_OK && context != NULL;
    if (created) {
        model->context = context;
    } else {
        create_failed(session, error, failure);
    }
    return heap_leave_create(&session->heap, &session->library, profile, created, failure) && created;
}

bool model_create(struct model *model, struct session *session, struct failure *failure) {
    struct map map;
    struct failure unreadable;
    memset(&unreadable, 0, sizeof(unreadable));
    if (!map_file(model->path, &map)) {
        return fail_errno(failure, EXIT_INPUT, "open", "the model can't be read");
    }
    if (!model->described) {
        pthread_mutex_lock(&describe_lock);
        model->described = describe_model(model, &session->library, map.data, map.size, &unreadable);
        pthread_mutex_unlock(&describe_lock);
    }
    /* The create's own verdict on a bad file is the better one, so it comes first. */
    bool good = create_context(model, session, &map, failure);
    unmap_file(&map);
    if (good && !model->described) {
        *failure = unreadable;
        return false;
    }
    return good;
}

bool model_retrieve(struct model *model, struct session *session, struct failure *failure) {
    for (size_t i = 0; i < model->graph_count; i++) {
        struct graph *graph = &model->graphs[i];
        qnn_error error = session->library.graph_retrieve(model->context, graph->name, &graph->handle);
        if (error != QNN_OK || graph->handle == NULL) {
            copy_text(failure->graph, sizeof(failure->graph), graph->name);
            return fail(failure, error, "graphRetrieve", "the context has no such graph");
        }
        if (!graph->allocated) {
            graph->allocated =
                tensors_allocate(&graph->inputs, failure) && tensors_allocate(&graph->outputs, failure);
        }
        if (!graph->allocated) {
            copy_text(failure->graph, sizeof(failure->graph), graph->name);
            return false;
        }
    }
    return true;
}

bool graph_run(struct graph *graph, struct session *session, struct failure *failure) {
    qnn_error error =
        session->library.graph_execute(graph->handle, graph->inputs.items, graph->inputs.count,
                                       graph->outputs.items, graph->outputs.count, NULL, NULL);
    if (error != QNN_OK) {
        copy_text(failure->graph, sizeof(failure->graph), graph->name);
        return fail(failure, error, "graphExecute", "the graph can't be executed");
    }
    return true;
}

bool model_free_context(struct model *model, struct session *session, struct failure *failure) {
    if (model->context == NULL) {
        return true;
    }
    qnn_handle profile = heap_enter_free(&session->heap);
    qnn_error error = session->library.context_free(model->context, profile);
    model->context = NULL;
    if (error != QNN_OK) {
        fail(failure, error, "contextFree", "the context can't be freed");
    }
    return heap_leave_free(&session->heap, &session->library, profile, failure) && error == QNN_OK;
}

void model_release(struct model *model) {
    for (size_t i = 0; i < model->graph_count; i++) {
        tensors_free(&model->graphs[i].inputs);
        tensors_free(&model->graphs[i].outputs);
        free(model->graphs[i].name);
    }
    free(model->graphs);
    model->graphs = NULL;
    model->graph_count = 0;
}
