#include "execute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exits.h"
#include "files.h"
#include "text.h"

bool inputs_read(struct inputs *inputs, const struct option_list *paths, struct failure *failure) {
    inputs->count = 0;
    inputs->lists = calloc(paths->count + 1, sizeof(*inputs->lists));
    if (inputs->lists == NULL) {
        failure->exit_code = EXIT_INTERNAL;
        return fail(failure, 0, "malloc", "out of memory");
    }
    for (size_t i = 0; i < paths->count; i++) {
        inputs->count = i + 1;
        if (!input_list_read(&inputs->lists[i], paths->values[i], failure)) {
            return false;
        }
    }
    return true;
}

void inputs_free(struct inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        input_list_free(&inputs->lists[i]);
    }
    free(inputs->lists);
    inputs->lists = NULL;
}

static bool make_folder(const char *folder, struct failure *failure) {
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        return fail_errno(failure, EXIT_WRITE, "mkdir", "output folder %.300s", folder);
    }
    return true;
}

/* ExecuTorch's names for a single graph; with several, the graph's number leads. */
static bool write_outputs(const struct graph *graph, const char *folder, size_t graph_number, bool several,
                          size_t inference, struct failure *failure) {
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        char path[PATH_LIMIT];
        char prefix[32] = "";
        const char *call = NULL;
        const qnn_tensor *tensor = &graph->outputs.items[i];
        if (several) {
            snprintf(prefix, sizeof(prefix), "graph_%zu_", graph_number);
        }
        struct text text = text_in(path, sizeof(path));
        text_add(&text, "%s/%soutput_%zu_%u.raw", folder, prefix, inference, i);
        errno = ENAMETOOLONG;
        if (text.cut || !write_file(path, tensor->buffer.data, tensor->buffer.size, false, &call)) {
            return fail_errno(failure, EXIT_WRITE, call != NULL ? call : "open", "output %.600s", path);
        }
    }
    return true;
}

static bool repeat(struct graph *graph, struct session *session, struct failure *failure) {
    uint64_t times = session->options->warm_up + session->options->iterations;
    for (uint64_t i = 0; i < times; i++) {
        if (!graph_run(graph, session, failure)) {
            return false;
        }
    }
    return true;
}

static bool execute_graph(struct graph *graph, size_t number, size_t all_graphs, const struct input_list *list,
                          struct session *session, struct failure *failure) {
    const char *folder = session->options->output_folder;
    size_t lines = list != NULL ? list->count : 1;
    for (size_t i = 0; i < lines; i++) {
        if (list != NULL && !input_line_load(list, &list->lines[i], &graph->inputs, failure)) {
            return false;
        }
        if (!repeat(graph, session, failure)) {
            return false;
        }
        if (folder[0] != '\0' && !write_outputs(graph, folder, number, all_graphs > 1, i, failure)) {
            return false;
        }
    }
    return true;
}

bool execute_model(struct model *model, size_t first_graph, size_t all_graphs, const struct inputs *inputs,
                   struct session *session, struct failure *failure) {
    if (inputs->count > 1 && inputs->count != all_graphs) {
        failure->exit_code = EXIT_INPUT;
        return fail(failure, 0, "input_list", "%zu input lists are given for %zu graphs: give one for all, or one each",
                    inputs->count, all_graphs);
    }
    if (session->options->output_folder[0] != '\0' && !make_folder(session->options->output_folder, failure)) {
        return false;
    }
    for (size_t i = 0; i < model->graph_count; i++) {
        size_t number = first_graph + i;
        const struct input_list *list =
            inputs->count == 0 ? NULL : &inputs->lists[inputs->count == 1 ? 0 : number];
        if (!execute_graph(&model->graphs[i], number, all_graphs, list, session, failure)) {
            return false;
        }
    }
    return true;
}
