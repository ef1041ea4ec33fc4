/* A stand-in for ExecuTorch's qnn_executor_runner and libqnn_executorch_backend.so.
 *
 * SIMULATED: nothing of ExecuTorch is in it. It has the runner's flags, writes its log lines and heap file as that
 * does (first line with truncation, second one appended), and calls the QNN library that lies beside it, which in
 * tests is the stand-in for that. Nothing is executed. Keys `runner_*` of standin.conf change what it does. */
#ifndef STANDIN_EXECUTORCH_H
#define STANDIN_EXECUTORCH_H

#include <stddef.h>
#include <stdint.h>

enum { OPTION_LIMIT = 256 }; /* ExecuTorch's kMaxOptionValueLength, its end included */

struct backend_options {
    int64_t profile_level; /* -1: what the program was compiled with */
    uint32_t log_level;
};

/* One log line on stderr in ExecuTorch's format; `level` is I, E or F. */
void et_log(char level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets a runtime option by its key; one that is not known is logged and left out. */
void backend_set_option(const char *key, const char *value);

/* Creates a context for every QNN delegate of the program; the number of them, or -1 after a logged error. */
int backend_load(const uint8_t *data, size_t size, const struct backend_options *options);

/* Frees the contexts in the order in which they were made. */
void backend_unload(void);

#endif
