#include "htp_behaviour.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_LIMIT = 65536 };

/* The answers a key takes, as the number that is kept. */
struct word {
    const char *text;
    int value;
};

static const struct word stages[] = {
    {"none", FAULT_NONE},         {"log", FAULT_LOG},         {"backend", FAULT_BACKEND}, {"device", FAULT_DEVICE},
    {"profile", FAULT_PROFILE},   {"create", FAULT_CREATE},   {"retrieve", FAULT_RETRIEVE},
    {"execute", FAULT_EXECUTE},   {"free", FAULT_FREE},       {"events", FAULT_EVENTS}, {"power", FAULT_POWER},
    {NULL, 0},
};
static const struct word signals[] = {
    {"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"BUS", SIGBUS}, {"KILL", SIGKILL}, {"EXIT", CRASH_BY_EXIT}, {NULL, 0}};
static const struct word noises[] = {
    {"text", NOISE_TEXT}, {"binary", NOISE_BINARY}, {"ansi", NOISE_ANSI}, {NULL, 0}};
/* Bit 1: before, bit 2: after. */
static const struct word events[] = {{"both", 3}, {"none", 0}, {"before", 1}, {"after", 2}, {NULL, 0}};
static const struct word orders[] = {{"normal", 0}, {"reversed", 1}, {NULL, 0}};
static const struct word answers[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};

enum key_kind { NUMBER, WORD, TEXT };

struct key {
    const char *name;
    enum key_kind kind;
    size_t offset, size; /* size: of a text's field */
    const struct word *words;
};

#define NUMBER_KEY(name, field) {name, NUMBER, offsetof(struct behaviour, field), 0, NULL}
#define TEXT_KEY(name, field) {name, TEXT, offsetof(struct behaviour, field), sizeof(((struct behaviour *)0)->field), NULL}
#define WORD_KEY(name, words) {name, WORD, 0, 0, words}

static const struct key keys[] = {
    NUMBER_KEY("before", before),
    NUMBER_KEY("after", after),
    NUMBER_KEY("leak_per_cycle", leak),
    NUMBER_KEY("one_time", one_time),
    NUMBER_KEY("repeat", repeat),
    NUMBER_KEY("fail_code", fail_code),
    NUMBER_KEY("fail_at", fail_at),
    NUMBER_KEY("crash_at", crash_at),
    NUMBER_KEY("hang_at", hang_at),
    NUMBER_KEY("create_delay_ms", create_delay_ms),
    NUMBER_KEY("execute_delay_ms", execute_delay_ms),
    NUMBER_KEY("noise_bytes", noise_bytes),
    TEXT_KEY("build_id", build_id),
    TEXT_KEY("log_file", log_file),
    TEXT_KEY("chain", chain),
    WORD_KEY("events", events),
    WORD_KEY("order", orders),
    WORD_KEY("fail_stage", stages),
    WORD_KEY("crash_stage", stages),
    WORD_KEY("hang_stage", stages),
    WORD_KEY("crash_signal", signals),
    WORD_KEY("noise", noises),
    WORD_KEY("nested", answers),
    WORD_KEY("dsp_profiling", answers),
};

void behaviour_defaults(struct behaviour *b) {
    memset(b, 0, sizeof(*b));
    b->before = 928212; /* the published reference of SM8850 */
    b->event_before = b->event_after = true;
    b->repeat = b->fail_at = b->crash_at = b->hang_at = 1;
    b->fail_code = 1002;
    b->crash_signal = SIGSEGV;
    b->dsp_profiling = true;
    snprintf(b->build_id, sizeof(b->build_id), "v0.0.0-heapprof-standin");
}

static bool number_of(const char *text, uint64_t *number) {
    uint64_t value = 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        unsigned digit = (unsigned char)*text - (unsigned)'0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

static void set_word(struct behaviour *b, const char *key, int value) {
    if (strcmp(key, "events") == 0) {
        b->event_before = (value & 1) != 0;
        b->event_after = (value & 2) != 0;
    } else if (strcmp(key, "order") == 0) {
        b->reversed = value != 0;
    } else if (strcmp(key, "fail_stage") == 0) {
        b->fail = (enum fault_stage)value;
    } else if (strcmp(key, "crash_stage") == 0) {
        b->crash = (enum fault_stage)value;
    } else if (strcmp(key, "hang_stage") == 0) {
        b->hang = (enum fault_stage)value;
    } else if (strcmp(key, "crash_signal") == 0) {
        b->crash_signal = value;
    } else if (strcmp(key, "noise") == 0) {
        b->noise = (enum noise_kind)value;
    } else if (strcmp(key, "nested") == 0) {
        b->nested = value != 0;
    } else {
        b->dsp_profiling = value != 0;
    }
}

static bool set_sdk(struct behaviour *b, char *value) {
    char *dot = strchr(value, '.');
    if (dot == NULL) {
        return false;
    }
    *dot = '\0';
    return number_of(value, &b->sdk_major) && number_of(dot + 1, &b->sdk_minor);
}

static bool set_value(struct behaviour *b, const struct key *key, const char *value) {
    char *field = (char *)b + key->offset;
    if (key->kind == NUMBER) {
        uint64_t number = 0;
        bool good = number_of(value, &number);
        memcpy(field, &number, sizeof(number));
        b->after_set = b->after_set || strcmp(key->name, "after") == 0;
        return good;
    }
    if (key->kind == TEXT) {
        int length = snprintf(field, key->size, "%s", value);
        return length > 0 && (size_t)length < key->size;
    }
    for (const struct word *word = key->words; word->text != NULL; word++) {
        if (strcmp(word->text, value) == 0) {
            set_word(b, key->name, word->value);
            return true;
        }
    }
    return false;
}

static bool set(struct behaviour *b, const char *name, char *value) {
    if (strcmp(name, "sdk") == 0) {
        if (set_sdk(b, value)) {
            return true;
        }
        snprintf(b->problem, sizeof(b->problem), "standin.conf: sdk is given as 2.47");
        return false;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].name, name) == 0) {
            if (set_value(b, &keys[i], value)) {
                return true;
            }
            snprintf(b->problem, sizeof(b->problem), "standin.conf: bad value for %.60s: '%.100s'", name, value);
            return false;
        }
    }
    snprintf(b->problem, sizeof(b->problem), "standin.conf: unknown key '%.100s'", name);
    return false;
}

static char *trim(char *text) {
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

bool behaviour_parse(struct behaviour *b, char *text) {
    while (text != NULL) {
        char *end = strchr(text, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        char *line = trim(text);
        if (*line != '\0' && *line != '#') {
            char *equals = strchr(line, '=');
            if (equals == NULL) {
                snprintf(b->problem, sizeof(b->problem), "standin.conf: no 'key = value': '%.100s'", line);
                return false;
            }
            *equals = '\0';
            /* runner_*: for the stand-in of ExecuTorch's runner, which reads the same file. */
            if (strncmp(line, "runner_", 7) != 0 && !set(b, trim(line), trim(equals + 1))) {
                return false;
            }
        }
        text = end;
    }
    return true;
}

static struct behaviour current;

static void find_folder(char *folder, size_t capacity) {
    Dl_info where;
    folder[0] = '\0';
    if (dladdr(&current, &where) == 0 || where.dli_fname == NULL) {
        return;
    }
    snprintf(folder, capacity, "%s", where.dli_fname);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    } else {
        folder[0] = '\0'; /* loaded by its bare name from the current folder */
    }
}

static void load(void) {
    static char text[CONFIG_LIMIT];
    char path[sizeof(current.folder) + 16];
    behaviour_defaults(&current);
    find_folder(current.folder, sizeof(current.folder));
    snprintf(path, sizeof(path), "%sstandin.conf", current.folder);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        ssize_t length = read(descriptor, text, sizeof(text) - 1);
        close(descriptor);
        text[length > 0 ? length : 0] = '\0';
        behaviour_parse(&current, text);
    } else if (errno != ENOENT) {
        snprintf(current.problem, sizeof(current.problem), "standin.conf: %.100s", strerror(errno));
    }
    if (!current.after_set) {
        current.after = current.before;
    }
}

const struct behaviour *behaviour(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return &current;
}
