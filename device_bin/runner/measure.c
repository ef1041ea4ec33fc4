#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"
#include "exits.h"
#include "ledger.h"
#include "pool.h"
#include "report.h"
#include "say.h"

/* Everything of one run. */
struct run {
    const struct options *options;
    struct session session;
    struct inputs inputs;
    struct ledger ledger;
    struct model *models;
    size_t count, all_graphs;
    uint64_t cycle;
};

static void begin(const struct run *run, enum stage stage, size_t index) {
    report_stage(stage, run->models[index].path, run->options->cycles > 1 ? run->cycle : 0);
    library_forget_errors();
}

/* Adds to a step's failure where it happened. */
static bool placed(const struct run *run, size_t index, bool good, struct failure *failure, enum stage stage) {
    if (!good && failure->set && failure->stage == NULL) {
        failure->stage = stage_names[failure->exit_code == EXIT_WRITE ? STAGE_WRITE : stage];
        failure->model = run->models[index].path;
        library_explain(&run->session.library, failure);
    }
    return good;
}

static bool create_one(void *shared, size_t index, struct failure *failure) {
    struct run *run = shared;
    struct model *model = &run->models[index];
    begin(run, STAGE_CREATE, index);
    bool good = model_create(model, &run->session, failure);
    if (good && index == 0) {
        run->session.first_context = model->context;
    }
    if (good && run->options->iterations > 0) {
        good = model_retrieve(model, &run->session, failure);
    }
    return placed(run, index, good, failure, STAGE_CREATE);
}

static bool execute_one(void *shared, size_t index, struct failure *failure) {
    struct run *run = shared;
    size_t first_graph = 0;
    for (size_t i = 0; i < index; i++) {
        first_graph += run->models[i].graph_count;
    }
    begin(run, STAGE_EXECUTE, index);
    bool good = execute_model(&run->models[index], first_graph, run->all_graphs, &run->inputs, &run->session,
                              failure);
    return placed(run, index, good, failure, STAGE_EXECUTE);
}

static bool free_one(void *shared, size_t index, struct failure *failure) {
    struct run *run = shared;
    if (run->models[index].context == NULL) {
        return true;
    }
    begin(run, STAGE_FREE, index);
    bool good = model_free_context(&run->models[index], &run->session, failure);
    return placed(run, index, good, failure, STAGE_FREE);
}

static bool create_all(struct run *run, struct failure *failure) {
    /* The first alone: others share its spill-fill buffer, and its heap reading must stand alone. */
    bool good = create_one(run, 0, failure) &&
                pool_run(run->options->threads, 1, run->count, create_one, run, failure);
    run->all_graphs = 0;
    for (size_t i = 0; i < run->count; i++) {
        run->all_graphs += run->models[i].graph_count;
    }
    return good;
}

/* Frees what exists, one by one until nothing is left even if one fails. */
static void free_all(struct run *run, struct failure *failure) {
    struct failure own;
    memset(&own, 0, sizeof(own));
    pool_run(run->options->threads, 0, run->count, free_one, run, &own);
    for (size_t i = 0; own.set && i < run->count; i++) {
        free_one(run, i, &own);
    }
    run->session.first_context = NULL;
    if (own.set && !failure->set) {
        *failure = own;
    }
}

static bool run_cycle(struct run *run, struct failure *failure) {
    heap_start_cycle(&run->session.heap, run->cycle);
    ledger_write(&run->ledger, "before_create", run->cycle);
    bool good = create_all(run, failure);
    ledger_write(&run->ledger, good ? "after_create" : "after_failed_create", run->cycle);
    if (good && run->options->iterations > 0) {
        good = pool_run(run->options->threads, 0, run->count, execute_one, run, failure);
        ledger_write(&run->ledger, "after_execute", run->cycle);
    }
    free_all(run, failure);
    ledger_write(&run->ledger, "after_free", run->cycle);
    struct failure write_failure;
    memset(&write_failure, 0, sizeof(write_failure));
    if (!heap_end_cycle(&run->session.heap, &write_failure) && !failure->set) {
        *failure = write_failure;
    }
    return !failure->set;
}

static void run_cycles(struct run *run, struct failure *failure) {
    run->cycle = 1;
    while (run_cycle(run, failure) && run->cycle < run->options->cycles) {
        run->cycle++;
    }
}

static void in_stage(struct failure *failure, const struct library *library, enum stage stage) {
    if (failure->set && failure->stage == NULL) {
        failure->stage = stage_names[stage];
        library_explain(library, failure);
    }
}

/* The story of a run. */
static void run_all(struct run *run, struct failure *failure) {
    struct session *session = &run->session;
    report_stage(STAGE_LOAD, NULL, 0);
    ledger_open(&run->ledger, run->options->ledger_path, failure);
    if (!failure->set && inputs_read(&run->inputs, &run->options->input_lists, failure)) {
        ledger_write(&run->ledger, "start", 0);
        library_load(&session->library, run->options->backend_library, run->options->system_library, failure);
    }
    in_stage(failure, &session->library, STAGE_LOAD);
    if (failure->set) {
        return;
    }
    report_stage(STAGE_SETUP, NULL, 0);
    session_open(session, failure);
    in_stage(failure, &session->library, STAGE_SETUP);
    if (!failure->set) {
        run_cycles(run, failure);
    }
    struct failure closing;
    memset(&closing, 0, sizeof(closing));
    session_close(session, &closing);
    in_stage(&closing, &session->library, STAGE_FREE);
    if (!failure->set) {
        *failure = closing;
    }
    ledger_write(&run->ledger, "end", 0);
    if (!failure->set) {
        report_stage(STAGE_WRITE, NULL, 0);
    }
    struct failure writing;
    memset(&writing, 0, sizeof(writing));
    heap_write(&session->heap, &writing);
    ledger_close(&run->ledger, &writing);
    if (!failure->set) {
        *failure = writing;
    }
    in_stage(failure, &session->library, STAGE_WRITE);
}

static int failed_stage(const struct failure *failure) {
    for (int i = 0; failure->set && i < STAGE_COUNT; i++) {
        if (strcmp(stage_names[i], failure->stage) == 0) {
            return i;
        }
    }
    return STAGE_WRITE;
}

static int exit_code_of(const struct failure *failure) {
    static const int codes[STAGE_COUNT] = {EXIT_LOAD, EXIT_SETUP, EXIT_CREATE, EXIT_EXECUTE, EXIT_FREE, EXIT_WRITE};
    if (!failure->set) {
        return EXIT_OK;
    }
    return failure->exit_code != 0 ? failure->exit_code : codes[failed_stage(failure)];
}

static int finish(const struct run *run, struct failure *failure) {
    char json[8192];
    int code = exit_code_of(failure);
    if (failure->set) {
        say_failure(failure);
        if (failure_json(failure, json, sizeof(json)) > 0) {
            report("error", json);
        }
    } else if (run->session.heap.wanted && run->session.heap.events == 0) {
        say("warning: no DSP heap events came: nothing was measured, and there is no heap file");
    }
    /* Cleaning up went on after a failure: the stage to tell is the failed one. */
    snprintf(json, sizeof(json), "%d %d", code, failed_stage(failure));
    report("end", json);
    return code;
}

int measure(const struct options *options) {
    static struct run run; /* the vendor library's threads may outlive the stack frame */
    struct failure failure;
    memset(&failure, 0, sizeof(failure));
    run.options = run.session.options = options;
    run.count = options->models.count;
    run.models = calloc(run.count, sizeof(*run.models));
    heap_init(&run.session.heap, options->heap_path, options->series_path);
    if (run.models == NULL) {
        return EXIT_INTERNAL;
    }
    for (size_t i = 0; i < run.count; i++) {
        run.models[i].path = options->models.values[i];
    }
    run_all(&run, &failure);
    for (size_t i = 0; i < run.count; i++) {
        model_release(&run.models[i]);
    }
    free(run.models);
    inputs_free(&run.inputs);
    return finish(&run, &failure);
}
