#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../runner/library.h"
#include "delegates.h"
#include "executorch.h"

static struct {
    struct library library;
    struct backend_options options;
    char heap_path[OPTION_LIMIT];
    qnn_handle log, backend, device, profile;
    qnn_handle contexts[DELEGATE_LIMIT];
    bool profiled[DELEGATE_LIMIT];
    int created, counted; /* counted: as ExecuTorch counts, up for every HTP context, down for profiled ones */
} state;

static void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say_error(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "[ERROR] [Qnn ExecuTorch]: %s\n", line);
}

static void on_log(const char *format, uint32_t level, uint64_t time, va_list arguments) {
    static const char *const names[] = {"?", "ERROR", "WARNING", "INFO", "VERBOSE", "DEBUG"};
    (void)time;
    fprintf(stderr, "[%s] [Qnn ExecuTorch]: ", names[level < 6 ? level : 0]);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

/* ProfileDataToFile: the file is opened anew for the first line and appended to for the second. */
static void write_heap_profile(void) {
    const uint64_t *ids = NULL;
    uint32_t count = 0;
    const char *path = state.heap_path;
    if (path[0] == '\0') {
        say_error("Heap profiling path is empty, skipping ProfileDataToFile");
        return;
    }
    bool some = false;
    state.library.get_events(state.profile, &ids, &count);
    for (uint32_t i = 0; i < count; i++) {
        qnn_event event;
        memset(&event, 0, sizeof(event));
        if (state.library.get_event_data(ids[i], &event) != QNN_OK || event.identifier == NULL ||
            strncmp(event.identifier, "DSP:", 4) != 0) {
            continue;
        }
        FILE *file = fopen(path, strcmp(event.identifier, QNN_EVENT_BEFORE) == 0 ? "w" : "a");
        if (file == NULL) {
            say_error("Failed to open %.300s", path);
            return;
        }
        fprintf(file, "%s (bytes), %llu\n", event.identifier, (unsigned long long)event.value);
        fclose(file);
        some = true;
    }
    if (!some) {
        say_error("Not HTP backend but enable htp profiling. Please check setting.");
    }
}

static bool open_backend(bool profile, uint32_t level) {
    struct failure failure;
    memset(&failure, 0, sizeof(failure));
    if (!library_load(&state.library, "libQnnHtp.so", "libQnnSystem.so", &failure)) {
        say_error("Cannot Open QNN library libQnnHtp.so, with error: %s", failure.message);
        return false;
    }
    if (state.library.log_create(on_log, state.options.log_level, &state.log) != QNN_OK ||
        state.library.backend_create(state.log, NULL, &state.backend) != QNN_OK) {
        say_error("Failed to create backend_handle for Backend ID 6");
        return false;
    }
    if (state.library.device_create(state.log, NULL, &state.device) != QNN_OK) {
        say_error("Failed to create device_handle for Backend ID 6");
        return false;
    }
    return !profile || state.library.profile_create(state.backend, level, &state.profile) == QNN_OK;
}

static bool create(const struct delegate *delegate, bool wanted) {
    qnn_htp_context_option option = {.option = QNN_HTP_OPTION_DSP_MEMORY_PROFILING, .u.enabled = true};
    qnn_context_config config = {0, &option};
    const qnn_context_config *list[] = {wanted ? &config : NULL, NULL};
    bool first = wanted && state.counted == 0;
    qnn_error error = state.library.create_from_binary(state.backend, state.device, list, delegate->payload,
                                                       delegate->payload_size, &state.contexts[state.created],
                                                       first ? state.profile : NULL);
    if (error != QNN_OK) {
        say_error("Can't create context from binary. Error %llu.", (unsigned long long)error);
        return false;
    }
    state.profiled[state.created++] = wanted;
    state.counted++;
    if (first) {
        write_heap_profile();
    }
    return true;
}

__attribute__((visibility("default"))) void backend_set_option(const char *key, const char *value) {
    if (strcmp(key, "qnn_runtime_heap_profiling_path") == 0) {
        snprintf(state.heap_path, sizeof(state.heap_path), "%s", value); /* cut silently, as ExecuTorch cuts it */
    } else {
        et_log('E', "Unable to set the following runtime option for QnnExecuTorchBackend: %s.", key);
    }
}

__attribute__((visibility("default"))) int backend_load(const uint8_t *data, size_t size,
                                                        const struct backend_options *options) {
    static struct delegate delegates[DELEGATE_LIMIT];
    int count = delegates_read(data, size, delegates);
    state.options = *options;
    if (count <= 0) {
        say_error("the program holds no QNN delegate");
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const struct delegate *one = &delegates[i];
        uint32_t level = options->profile_level >= 0 ? (uint32_t)options->profile_level : one->profile_level;
        bool htp = one->backend == BACKEND_HTP;
        if (i == 0 && !open_backend(level > 0, level)) {
            return -1;
        }
        if (one->online_prepare) {
            et_log('I', "%s", "online prepare: this stand-in makes no context");
            continue;
        }
        if (!create(one, htp && level > 0 && state.profile != NULL)) {
            return -1;
        }
    }
    return count;
}

__attribute__((visibility("default"))) void backend_unload(void) {
    for (int i = 0; i < state.created; i++) {
        state.counted -= state.profiled[i] ? 1 : 0;
        bool last = state.profiled[i] && state.counted == 0;
        qnn_error error = state.library.context_free(state.contexts[i], last ? state.profile : NULL);
        if (error != QNN_OK) {
            say_error("Failed to free QNN context_handle_. Backend ID 6, error %llu", (unsigned long long)error);
        } else if (last) {
            write_heap_profile();
        }
    }
}

__attribute__((visibility("default"))) void et_log(char level, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%c 00:00:00.000000 executorch:qnn_executor_runner.cpp:1] %s\n", level, line);
}
