#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "performance.h"
#include "text.h"

enum kind { TEXT, LIST, NUMBER, SECONDS, MODE, SWITCH };

struct entry {
    const char *name;
    enum kind kind;
    size_t offset;
    uint64_t minimum, maximum;
    const char *meaning;
};

#define AT(member) offsetof(struct options, member)

static const struct entry table[] = {
    {"model", LIST, AT(models), 0, 0, "PATH of a context binary; repeat it for several contexts at once"},
    {"model_path", LIST, AT(models), 0, 0, "PATH: the same as --model"},
    {"heap_profiling_path", TEXT, AT(heap_path), 0, 0, "PATH of the two-line heap file; empty = no heap profiling"},
    {"heap_series_path", TEXT, AT(series_path), 0, 0, "PATH of a CSV file with one line per cycle"},
    {"memory_ledger_path", TEXT, AT(ledger_path), 0, 0, "PATH of a file with one JSON line per checkpoint"},
    {"status_path", TEXT, AT(status_path), 0, 0, "PATH of the JSON status file"},
    {"run_id", TEXT, AT(run_id), 0, 0, "TEXT that is repeated in the status file"},
    {"input_list_path", LIST, AT(input_lists), 0, 0, "PATH of a list of inputs, one inference a line; once, or once a graph"},
    {"output_folder_path", TEXT, AT(output_folder), 0, 0, "DIR that the outputs are written to"},
    {"backend_library", TEXT, AT(backend_library), 0, 0, "NAME or PATH of the HTP library (libQnnHtp.so)"},
    {"system_library", TEXT, AT(system_library), 0, 0, "NAME or PATH of the system library (libQnnSystem.so)"},
    {"profile_level", NUMBER, AT(profile_level), 0, 2, "0 off, 1 basic, 2 detailed (1)"},
    {"log_level", NUMBER, AT(log_level), 1, 5, "1 errors, 2 warnings, 3 information, 4 verbose, 5 debug (2)"},
    {"htp_performance_mode", MODE, AT(performance_mode), 0, 0, "0-8 or a name (0 = default: no votes)"},
    {"iteration", NUMBER, AT(iterations), 0, 1000000000, "inferences of each graph (1); 0 = create and free only"},
    {"warm_up", NUMBER, AT(warm_up), 0, 1000000000, "inferences before those, not kept (0)"},
    {"cycles", NUMBER, AT(cycles), 1, 1000000000, "create, execute and free all this many times (1)"},
    {"threads", NUMBER, AT(threads), 1, 64, "contexts handled at the same time (1)"},
    {"share_spill_fill", NUMBER, AT(spill_fill), 0, UINT64_MAX, "BYTES of one spill-fill buffer shared by all contexts (0 = not shared)"},
    {"time_limit", SECONDS, AT(time_limit_ms), 0, 31536000, "seconds (2 or 0.5) after which the run is ended (0 = none)"},
    {"version", SWITCH, AT(version), 0, 0, "print the version"},
    {"help", SWITCH, AT(help), 0, 0, "print this"},
};

static const struct entry *find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static bool append(struct option_list *list, const char *value) {
    const char **values = realloc(list->values, (list->count + 1) * sizeof(*values));
    if (values == NULL) {
        return false;
    }
    list->values = values;
    list->values[list->count++] = value;
    return true;
}

static bool complain(struct text *problem, const struct entry *entry, const char *value, const char *wanted) {
    text_add(problem, "--%s: '%.200s' is %s", entry->name, value, wanted);
    return false;
}

static bool set_number(const struct entry *entry, void *field, const char *value, struct text *problem) {
    uint64_t number = 0;
    if (!parse_number(value, entry->maximum, &number) || number < entry->minimum) {
        char wanted[96];
        snprintf(wanted, sizeof(wanted), "no whole number from %llu to %llu", (unsigned long long)entry->minimum,
                 (unsigned long long)entry->maximum);
        return complain(problem, entry, value, wanted);
    }
    memcpy(field, &number, sizeof(number));
    return true;
}

/* "2" or "2.5", kept in milliseconds; smaller parts count as one, so that a limit is never none. */
static bool set_seconds(const struct entry *entry, uint64_t *field, const char *value, struct text *problem) {
    char whole[24];
    const char *dot = strchr(value, '.');
    size_t length = dot != NULL ? (size_t)(dot - value) : strlen(value);
    uint64_t seconds = 0, part = 0, unit = 1000;
    copy_text(whole, length < sizeof(whole) ? length + 1 : sizeof(whole), value);
    if (length >= sizeof(whole) || !parse_number(whole, entry->maximum, &seconds) ||
        (dot != NULL && !parse_number(dot + 1, UINT64_MAX, &part))) {
        return complain(problem, entry, value, "no number of seconds (up to a year)");
    }
    uint64_t milliseconds = 0;
    for (const char *digit = dot != NULL ? dot + 1 : ""; *digit != '\0'; digit++) {
        unit /= 10;
        milliseconds += unit * (uint64_t)(*digit - '0');
    }
    *field = seconds * 1000 + (milliseconds == 0 && part > 0 ? 1 : milliseconds);
    return true;
}

static bool set_value(const struct entry *entry, struct options *options, const char *value, struct text *problem) {
    void *field = (char *)options + entry->offset;
    switch (entry->kind) {
    case TEXT:
        if (strlen(value) >= PATH_LIMIT - 8) {
            text_add(problem, "--%s: the value is longer than %d bytes", entry->name, PATH_LIMIT - 8);
            return false;
        }
        *(const char **)field = value;
        return true;
    case LIST:
        if (value[0] == '\0' || strlen(value) >= PATH_LIMIT) {
            return complain(problem, entry, value, "no path: it is empty or too long");
        }
        if (!append(field, value)) {
            text_add(problem, "out of memory");
            return false;
        }
        return true;
    case NUMBER:
        return set_number(entry, field, value, problem);
    case SECONDS:
        return set_seconds(entry, field, value, problem);
    case MODE: {
        int mode = performance_mode_of(value);
        if (mode < 0) {
            return complain(problem, entry, value, "no performance mode: give 0-8 or a name such as burst");
        }
        *(uint64_t *)field = (uint64_t)mode;
        return true;
    }
    case SWITCH:
        break;
    }
    *(bool *)field = true;
    return true;
}

static bool parse_one(int argc, char **argv, int *at, struct options *options, struct text *problem) {
    const char *argument = argv[*at];
    const char *name = argument;
    if (name[0] != '-' || name[1] == '\0') {
        text_add(problem, "'%.200s' is no option; a model is given as --model PATH", argument);
        return false;
    }
    name += name[1] == '-' ? 2 : 1;
    const char *equals = strchr(name, '=');
    const struct entry *entry = find(name, equals != NULL ? (size_t)(equals - name) : strlen(name));
    if (entry == NULL) {
        text_add(problem, "unknown option '%.200s'; --help lists them all", argument);
        return false;
    }
    if (entry->kind == SWITCH) {
        if (equals != NULL) {
            text_add(problem, "--%s takes no value", entry->name);
            return false;
        }
        return set_value(entry, options, "", problem);
    }
    if (equals == NULL && *at + 1 >= argc) {
        text_add(problem, "--%s needs a value", entry->name);
        return false;
    }
    return set_value(entry, options, equals != NULL ? equals + 1 : argv[++*at], problem);
}

/* The files that are written are removed first: one given by mistake as two things would be lost. */
static bool check_paths(const struct options *options, struct text *problem) {
    const char *written[] = {options->heap_path, options->series_path, options->ledger_path, options->status_path};
    const size_t count = sizeof(written) / sizeof(written[0]);
    for (size_t i = 0; i < count; i++) {
        bool twice = false;
        for (size_t j = 0; j < i; j++) {
            twice = twice || strcmp(written[i], written[j]) == 0;
        }
        for (size_t j = 0; j < options->models.count; j++) {
            twice = twice || strcmp(written[i], options->models.values[j]) == 0;
        }
        if (written[i][0] != '\0' && twice) {
            text_add(problem, "'%.200s' is given for two things, and one of them would overwrite it", written[i]);
            return false;
        }
    }
    return true;
}

static bool check_together(const struct options *options, struct text *problem) {
    if (options->help || options->version) {
        return true;
    }
    if (options->models.count == 0) {
        text_add(problem, "--model PATH is needed");
        return false;
    }
    if (options->heap_path[0] != '\0' && options->profile_level == 0) {
        /* ExecuTorch's runner silently measures nothing here. */
        text_add(problem, "--heap_profiling_path needs --profile_level 1 or 2: at level 0 no heap events come");
        return false;
    }
    if (options->series_path[0] != '\0' && options->heap_path[0] == '\0') {
        text_add(problem, "--heap_series_path needs --heap_profiling_path");
        return false;
    }
    if (options->backend_library[0] == '\0' || options->system_library[0] == '\0') {
        text_add(problem, "a library's name is empty");
        return false;
    }
    return check_paths(options, problem);
}

bool parse_options(int argc, char **argv, struct options *options, char *problem, size_t capacity) {
    struct text text = text_in(problem, capacity);
    memset(options, 0, sizeof(*options));
    options->heap_path = options->series_path = options->ledger_path = "";
    options->output_folder = options->status_path = options->run_id = "";
    options->backend_library = "libQnnHtp.so";
    options->system_library = "libQnnSystem.so";
    options->profile_level = 1;
    options->log_level = 2;
    options->iterations = options->cycles = options->threads = 1;
    for (int at = 1; at < argc; at++) {
        if (!parse_one(argc, argv, &at, options, &text)) {
            return false;
        }
    }
    return check_together(options, &text);
}

void free_options(struct options *options) {
    free(options->models.values);
    free(options->input_lists.values);
    options->models.values = options->input_lists.values = NULL;
}

void print_help(void) {
    char buffer[4096];
    struct text text = text_in(buffer, sizeof(buffer));
    text_add(&text, "heapprof_runner: measures the DSP heap that QNN context binaries cost\n");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        text_add(&text, "  --%-22s %s\n", table[i].name, table[i].meaning);
    }
    write_all(STDOUT_FILENO, buffer, text.length);
}
