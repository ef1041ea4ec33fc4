/* The first thing that went wrong, with everything a reader needs to place it. */
#ifndef HEAPPROF_FAILURE_H
#define HEAPPROF_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure {
    bool set;
    int exit_code;      /* 0: the exit code of the stage it happened in */
    uint64_t code;      /* QNN error; 0 when it is none */
    const char *stage;  /* a literal; NULL until the stage is known */
    const char *call;   /* a literal */
    const char *model;  /* path as given, or NULL */
    char graph[256];    /* or "" */
    char message[1536];
};

/* Records a failure unless one is recorded already (the first one counts). Always false. */
bool fail(struct failure *failure, uint64_t code, const char *call, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* fail() for a failed system call: appends errno's text. Always false. */
bool fail_errno(struct failure *failure, int exit_code, const char *call, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Our own text for a QNN error code, where the library has none; NULL when we know none either. */
const char *known_error(uint64_t code);

/* Writes the JSON object of the status file's "error" to `json`. */
size_t failure_json(const struct failure *failure, char *json, size_t capacity);

/* The error line on stderr. */
void say_failure(const struct failure *failure);

#endif
