#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/files.h"
#include "../runner/text.h"
#include "executorch.h"

enum { CONFIG_LIMIT = 65536 };

/* The flags of qnn_executor_runner; `number`: their values are whole numbers. */
static struct flag {
    const char *name;
    bool number;
    const char *value;
} flags[] = {
    {"model_path", false, "model.pte"},
    {"output_folder_path", false, "outputs"},
    {"input_list_path", false, "input_list.txt"},
    {"iteration", true, NULL},
    {"warm_up", true, NULL},
    {"method_index", true, NULL},
    {"shared_buffer", false, NULL},
    {"etdump_path", false, NULL},
    {"log_level", true, NULL},
    {"htp_performance_mode", true, NULL},
    {"profile_level", true, NULL},
    {"heap_profiling_path", false, ""},
    {"performance_output_path", false, NULL},
};
enum { FLAG_COUNT = sizeof(flags) / sizeof(flags[0]) };

static char config[CONFIG_LIMIT];

/* The value of a key of standin.conf, or NULL. Such files are small and well-formed, so this is all. */
static const char *configured(const char *key) {
    static char value[256];
    const char *line = config;
    size_t length = strlen(key);
    while (line != NULL && *line != '\0') {
        char found[256] = "";
        if (strncmp(line, key, length) == 0 && sscanf(line + length, " = %255[^\n]", found) == 1) {
            copy_text(value, sizeof(value), found);
            return value;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

static bool configured_as(const char *key, const char *wanted) {
    const char *value = configured(key);
    return value != NULL && strcmp(value, wanted) == 0;
}

static struct flag *flag_named(const char *name, size_t length) {
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (strlen(flags[i].name) == length && strncmp(flags[i].name, name, length) == 0) {
            return configured_as("runner_unknown_flag", flags[i].name) ? NULL : &flags[i];
        }
    }
    return NULL;
}

/* As gflags does it: an unknown flag or a bad value ends the process with 1. */
static void parse_flags(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        size_t length = strcspn(name, "=");
        struct flag *flag = name != argv[i] ? flag_named(name, length) : NULL;
        if (flag == NULL) {
            fprintf(stderr, "ERROR: unknown command line flag '%.*s'\n", (int)length, name);
            exit(1);
        }
        if (name[length] != '=' && i + 1 == argc) {
            fprintf(stderr, "ERROR: flag '%s' is missing its argument\n", argv[i]);
            exit(1);
        }
        flag->value = name[length] == '=' ? name + length + 1 : argv[++i];
        uint64_t number = 0;
        if (flag->number && !parse_number(flag->value, INT32_MAX, &number)) {
            fprintf(stderr, "ERROR: illegal value '%s' specified for int32 flag '%s'\n", flag->value, flag->name);
            exit(1);
        }
    }
}

static const char *value_of(const char *name) {
    struct flag *flag = flag_named(name, strlen(name));
    return flag != NULL ? flag->value : NULL;
}

static int64_t number_of(const char *name, int64_t otherwise) {
    uint64_t number = 0;
    const char *value = value_of(name);
    return value != NULL && parse_number(value, INT32_MAX, &number) ? (int64_t)number : otherwise;
}

/* ExecuTorch's ET_CHECK_MSG. */
static void must(bool good, const char *condition, const char *message) {
    if (!good) {
        et_log('F', "In function main(), assert failed (%s): %s", condition, message);
        abort();
    }
}

/* Every file of the list must be there; nothing is executed with them. */
static void read_inputs(void) {
    static char list[CONFIG_LIMIT];
    const char *path = value_of("input_list_path");
    if (path == NULL || read_small_file(path, list, sizeof(list)) < 0) {
        et_log('I', "no input list: inputs get default values, executed once");
        return;
    }
    for (char *word = strtok(list, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        char *name = strstr(word, ":=");
        FILE *file = fopen(name != NULL ? name + 2 : word, "rb");
        must(file != NULL, "fin.is_open()", "Could not open an input file");
        fclose(file);
    }
}

int main(int argc, char **argv) {
    struct backend_options options;
    struct map program = {NULL, 0};
    memset(&options, 0, sizeof(options));
    read_small_file("standin.conf", config, sizeof(config));
    parse_flags(argc, argv);
    et_log('I', "heapprof-standin for qnn_executor_runner: simulated, nothing is executed");
    options.profile_level = configured_as("runner_profile_level", "ignored") ? -1 : number_of("profile_level", -1);
    options.log_level = (uint32_t)number_of("log_level", 1);
    const char *heap = value_of("heap_profiling_path");
    if (heap != NULL && heap[0] != '\0' && !configured_as("runner_heap_path", "lost")) {
        backend_set_option("qnn_runtime_heap_profiling_path", heap);
    }
    must(map_file(value_of("model_path"), &program), "loader.ok()", "FileDataLoader::from() failed: 0x22");
    if (program.size < 8 || memcmp(program.data + 4, "ET12", 4) != 0) {
        et_log('E', "Failed to parse model file %s", value_of("model_path"));
        return 1;
    }
    must(backend_load(program.data, program.size, &options) >= 0, "method.ok()",
         "Loading of method forward failed with status 0x1");
    et_log('I', "Method loaded.");
    read_inputs();
    if (configured("runner_crash") != NULL) {
        volatile int *nowhere = NULL;
        *nowhere = 1;
    }
    backend_unload();
    return 0;
}
