#include "status.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "files.h"
#include "text.h"
#include "version.h"

enum { CONTEXTS_LIMIT = 1024 * 1024 };

const char *signal_name(int number) {
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGABRT, "SIGABRT"}, {SIGALRM, "SIGALRM"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},
        {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"},
        {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return NULL;
}

void status_init(struct status *status, const struct options *options) {
    memset(status, 0, sizeof(*status));
    status->options = options;
    status->state = "running";
    status->stage = -1;
    status->exit_code = -1;
}

void status_free(struct status *status) {
    free(status->library);
    free(status->heap);
    free(status->error);
    free(status->contexts);
}

static void replace(char **field, const char *value) {
    char *copy = malloc(strlen(value) + 1);
    if (copy != NULL) {
        memcpy(copy, value, strlen(value) + 1);
        free(*field);
        *field = copy;
    }
}

static void add_context(struct status *status, const char *json) {
    size_t length = strlen(json);
    size_t wanted = status->contexts_length + length + 2;
    char *grown = wanted <= CONTEXTS_LIMIT ? realloc(status->contexts, wanted) : NULL;
    if (grown == NULL) {
        return;
    }
    char *at = grown + status->contexts_length;
    if (status->contexts_length > 0) {
        *at++ = ',';
    }
    memcpy(at, json, length + 1);
    status->contexts = grown;
    status->contexts_length = (size_t)(at - grown) + length;
}

static void close_stage(struct status *status, uint64_t now) {
    if (status->stage >= 0 && now > status->stage_start_ns) {
        status->stage_ns[status->stage] += now - status->stage_start_ns;
    }
    status->stage_start_ns = now;
}

/* Splits "<number> <number>". */
static bool two_numbers(char *payload, uint64_t *first, uint64_t *second) {
    char *space = strchr(payload, ' ');
    if (space == NULL) {
        return false;
    }
    *space = '\0';
    return parse_number(payload, UINT64_MAX, first) && parse_number(space + 1, UINT64_MAX, second);
}

static void enter_stage(struct status *status, char *payload) {
    uint64_t stage = 0, now = 0;
    if (two_numbers(payload, &stage, &now) && stage < STAGE_COUNT) {
        close_stage(status, now);
        status->stage = (int)stage;
        status->stage_seen[stage] = true;
    }
}

static void take_end(struct status *status, char *payload) {
    uint64_t code = 0, stage = 0;
    if (two_numbers(payload, &code, &stage) && code <= 255 && stage < STAGE_COUNT) {
        close_stage(status, now_ns());
        status->ended = true;
        status->exit_code = (int)code;
        status->stage = (int)stage;
    }
}

void status_take(struct status *status, char *line) {
    char *payload = strchr(line, ' ');
    if (payload == NULL) {
        return;
    }
    *payload++ = '\0';
    if (strcmp(line, "stage") == 0) {
        enter_stage(status, payload);
    } else if (strcmp(line, "end") == 0) {
        take_end(status, payload);
    } else if (strcmp(line, "library") == 0) {
        replace(&status->library, payload);
    } else if (strcmp(line, "heap") == 0) {
        replace(&status->heap, payload);
    } else if (strcmp(line, "error") == 0) {
        replace(&status->error, payload);
    } else if (strcmp(line, "context") == 0) {
        add_context(status, payload);
    }
}

void status_set_error(struct status *status, const char *what) {
    struct failure failure;
    char json[4096];
    memset(&failure, 0, sizeof(failure));
    const char *stage = status->stage >= 0 ? stage_names[status->stage] : "load";
    fail(&failure, 0, NULL, "%s in stage %s", what, stage);
    failure.stage = stage;
    if (failure_json(&failure, json, sizeof(json)) > 0) {
        replace(&status->error, json);
    }
}

static void add_object(struct text *text, const char *key, const char *json, const char *otherwise) {
    text_add(text, ",\"%s\":%s", key, json != NULL ? json : otherwise);
}

static void add_stages(struct text *text, const struct status *status) {
    const char *separator = "";
    text_add(text, ",\"stages\":[");
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (status->stage_seen[i]) {
            uint64_t microseconds = status->stage_ns[i] / 1000;
            text_add(text, "%s{\"name\":\"%s\",\"seconds\":%llu.%06llu}", separator, stage_names[i],
                     (unsigned long long)(microseconds / 1000000), (unsigned long long)(microseconds % 1000000));
            separator = ",";
        }
    }
    text_add(text, "]");
}

static void compose(struct text *text, const struct status *status) {
    const char *no_heap = status->options->heap_path[0] != '\0'
                              ? "{\"requested\":true,\"before_bytes\":null,\"after_bytes\":null,"
                                "\"before_call\":null,\"after_call\":null,\"events\":0}"
                              : "{\"requested\":false,\"before_bytes\":null,\"after_bytes\":null,"
                                "\"before_call\":null,\"after_call\":null,\"events\":0}";
    text_add(text, "{\"schema_version\":1,\"runner_version\":\"" RUNNER_VERSION "\",\"target\":\"" RUNNER_TARGET
                   "\",\"run_id\":");
    text_add_json(text, status->options->run_id);
    text_add(text, ",\"state\":\"%s\",\"stage\":", status->state);
    text_add_json(text, status->stage >= 0 ? stage_names[status->stage] : NULL);
    text_add(text, ",\"pid\":");
    text_add_known(text, status->process > 0, (uint64_t)status->process, "null");
    text_add(text, ",\"exit_code\":");
    text_add_known(text, status->exit_code >= 0, (uint64_t)status->exit_code, "null");
    text_add(text, ",\"signal\":");
    text_add_known(text, status->signal > 0, (uint64_t)status->signal, "null");
    text_add(text, ",\"signal_name\":");
    text_add_json(text, signal_name(status->signal));
    add_object(text, "error", status->error, "null");
    add_object(text, "library", status->library, "null");
    text_add(text, ",\"contexts\":[");
    text_add_bytes(text, status->contexts != NULL ? status->contexts : "", status->contexts_length);
    text_add(text, "]");
    add_object(text, "heap", status->heap, no_heap);
    add_stages(text, status);
    text_add(text, "}\n");
}

bool status_write(struct status *status, bool last) {
    const char *path = status->options->status_path;
    const char *call = NULL;
    if (last && !status->ended) {
        close_stage(status, now_ns());
    }
    if (path[0] == '\0') {
        return true;
    }
    size_t capacity = status->contexts_length + 5 * REPORT_LIMIT;
    char *buffer = malloc(capacity);
    if (buffer == NULL) {
        return false;
    }
    struct text text = text_in(buffer, capacity);
    compose(&text, status);
    bool good = write_file(path, buffer, text.length, last, &call);
    free(buffer);
    return good;
}
