#include "failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "say.h"
#include "text.h"

bool fail(struct failure *failure, uint64_t code, const char *call, const char *format, ...) {
    if (failure->set) {
        return false;
    }
    failure->set = true;
    failure->code = code;
    failure->call = call;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->message, sizeof(failure->message), format, arguments);
    va_end(arguments);
    return false;
}

bool fail_errno(struct failure *failure, int exit_code, const char *call, const char *format, ...) {
    const char *reason = strerror(errno);
    if (failure->set) {
        return false;
    }
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    failure->exit_code = exit_code;
    return fail(failure, 0, call, "%s: %s", message, reason);
}

/* 13xxx and 30xxx have no text in errorGetMessage; the others are said in words a user can act on. */
static const struct {
    uint64_t code;
    const char *name;
} known[] = {
    {1000, "unsupported feature"},
    {5000, "invalid argument (an empty binary, or one made by a newer QNN SDK than this library)"},
    {5002, "invalid context handle"},
    {5005, "unsupported or damaged context binary"},
    {5010, "unsupported context configuration"},
    {13000, "HTP: general failure"},
    {13001, "HTP: invalid input"},
    {13002, "HTP: unsupported configuration"},
    {13003, "HTP: transport error (FastRPC to the DSP)"},
    {13004, "HTP: unsupported"},
    {13005, "HTP: out of memory"},
    {13006, "HTP: failed"},
    {14001, "device: unsupported or invalid configuration"},
    {30000, "invalid system handle"},
    {30001, "invalid argument: this is no QNN context binary"},
    {30002, "the context binary could not be read"},
    {30010, "malformed context binary: it is cut off, or longer than its header says"},
};

const char *known_error(uint64_t code) {
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].code == code) {
            return known[i].name;
        }
    }
    return NULL;
}

size_t failure_json(const struct failure *failure, char *json, size_t capacity) {
    struct text text = text_in(json, capacity);
    text_add(&text, "{\"stage\":");
    text_add_json(&text, failure->stage);
    if (failure->code != 0) {
        text_add(&text, ",\"code\":%llu,\"code_name\":", (unsigned long long)failure->code);
        text_add_json(&text, known_error(failure->code));
    } else {
        text_add(&text, ",\"code\":null,\"code_name\":null");
    }
    text_add(&text, ",\"message\":");
    text_add_json(&text, failure->message);
    text_add(&text, ",\"call\":");
    text_add_json(&text, failure->call);
    text_add(&text, ",\"model\":");
    text_add_json(&text, failure->model);
    text_add(&text, ",\"graph\":");
    text_add_json(&text, failure->graph[0] != '\0' ? failure->graph : NULL);
    text_add(&text, "}");
    return text.cut ? 0 : text.length;
}

void say_failure(const struct failure *failure) {
    char where[512] = "";
    if (failure->model != NULL) {
        snprintf(where, sizeof(where), " model=%.200s%s%.200s", failure->model,
                 failure->graph[0] != '\0' ? " graph=" : "", failure->graph);
    }
    say("error: stage=%s code=%llu call=%s%s: %s", failure->stage != NULL ? failure->stage : "?",
        (unsigned long long)failure->code, failure->call, where, failure->message);
}
