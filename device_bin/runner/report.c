#include "report.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files.h"
#include "say.h"
#include "text.h"

const char *const stage_names[STAGE_COUNT] = {"load", "setup", "create", "execute", "free", "write"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_end = -1;

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void report_open(int descriptor) {
    pipe_end = descriptor;
}

void report(const char *key, const char *payload) {
    static char line[REPORT_LIMIT];
    pthread_mutex_lock(&lock);
    int length = snprintf(line, sizeof(line), "%s %s\n", key, payload);
    /* What doesn't fit is left out whole: half a JSON object would spoil the status file. */
    if (length > 0 && (size_t)length < sizeof(line)) {
        write_all(pipe_end, line, (size_t)length);
    }
    pthread_mutex_unlock(&lock);
}

void report_stage(enum stage stage, const char *model, uint64_t cycle) {
    char where[PATH_LIMIT + 64] = "";
    struct text text = text_in(where, sizeof(where));
    if (model != NULL) {
        text_add(&text, " model=%s", model);
    }
    if (cycle > 0) {
        text_add(&text, " cycle=%llu", (unsigned long long)cycle);
    }
    say("stage %s%s", stage_names[stage], where);
    char payload[64];
    snprintf(payload, sizeof(payload), "%u %llu", (unsigned)stage, (unsigned long long)now_ns());
    report("stage", payload);
}
