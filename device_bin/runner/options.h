/* The command line of the runner (gflags style; ExecuTorch's names where it has the option). */
#ifndef HEAPPROF_OPTIONS_H
#define HEAPPROF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A repeatable option's values, in the order given; they point into argv. */
struct option_list {
    const char **values;
    size_t count;
};

struct options {
    struct option_list models;
    struct option_list input_lists;
    const char *heap_path; /* the paths: "" means off */
    const char *series_path;
    const char *ledger_path;
    const char *output_folder;
    const char *status_path;
    const char *backend_library;
    const char *system_library;
    const char *run_id;
    uint64_t profile_level;
    uint64_t log_level;
    uint64_t performance_mode;
    uint64_t iterations;
    uint64_t warm_up;
    uint64_t cycles;
    uint64_t threads;
    uint64_t spill_fill; /* bytes of the buffer that the contexts share; 0: not shared */
    uint64_t time_limit_ms; /* 0: none */
    bool help, version;
};

/* Fills `options` from the command line; false with one line in `problem` that says what is wrong. */
bool parse_options(int argc, char **argv, struct options *options, char *problem, size_t capacity);
void free_options(struct options *options);

/* Prints every option, its default and meaning on stdout. */
void print_help(void);

#endif
