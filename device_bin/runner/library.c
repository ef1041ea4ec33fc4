#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "say.h"
#include "text.h"

enum { MAX_PROVIDERS = 64 };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char first_error_line[512];

/* Real libraries put " <E> " before many of their texts themselves. */
static const char *without_level(const char *line) {
    line += strspn(line, " ");
    return line[0] == '<' && line[1] != '\0' && line[2] == '>' && line[3] == ' ' ? line + 4 : line;
}

void library_log(const char *format, uint32_t level, uint64_t time, va_list arguments) {
    static const char letters[] = "?EWIVD";
    char line[1024];
    (void)time;
    if (format == NULL) {
        return;
    }
    vsnprintf(line, sizeof(line), format, arguments);
    make_printable(line);
    const char *text = without_level(line);
    say("qnn <%c> %s", letters[level <= QNN_LOG_DEBUG ? level : 0], text);
    if (level == QNN_LOG_ERROR) {
        pthread_mutex_lock(&log_lock);
        if (first_error_line[0] == '\0') {
            copy_text(first_error_line, sizeof(first_error_line), text);
        }
        pthread_mutex_unlock(&log_lock);
    }
}

void library_forget_errors(void) {
    pthread_mutex_lock(&log_lock);
    first_error_line[0] = '\0';
    pthread_mutex_unlock(&log_lock);
}

static const char *dl_error(void) {
    const char *error = dlerror();
    return error != NULL ? error : "unknown error";
}

static void *open_library(const char *name, const char *entry, void **function, struct failure *failure) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fail(failure, 0, "dlopen", "%.300s can't be loaded: %.600s", name, dl_error());
        return NULL;
    }
    *function = dlsym(handle, entry);
    if (*function == NULL) {
        fail(failure, 0, "dlsym", "%.300s is no QNN library: it has no %s", name, entry);
        return NULL;
    }
    return handle;
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises the same size. */
#define TAKE(target, table, slot)                            \
    do {                                                     \
        void *entry = (table)[slot];                         \
        memcpy(&(target), &entry, sizeof(entry));            \
        complete = complete && entry != NULL;                \
    } while (0)

static bool take_backend_table(struct library *library) {
    void *const *table = library->interface->table;
    bool complete = true;
    TAKE(library->log_create, table, QNN_LOG_CREATE);
    TAKE(library->log_free, table, QNN_LOG_FREE);
    TAKE(library->backend_create, table, QNN_BACKEND_CREATE);
    TAKE(library->get_build_id, table, QNN_BACKEND_GET_BUILD_ID);
    TAKE(library->backend_free, table, QNN_BACKEND_FREE);
    TAKE(library->device_create, table, QNN_DEVICE_CREATE);
    TAKE(library->device_free, table, QNN_DEVICE_FREE);
    TAKE(library->get_infrastructure, table, QNN_DEVICE_GET_INFRASTRUCTURE);
    TAKE(library->profile_create, table, QNN_PROFILE_CREATE);
    TAKE(library->get_events, table, QNN_PROFILE_GET_EVENTS);
    TAKE(library->get_event_data, table, QNN_PROFILE_GET_EVENT_DATA);
    TAKE(library->profile_free, table, QNN_PROFILE_FREE);
    TAKE(library->create_from_binary, table, QNN_CONTEXT_CREATE_FROM_BINARY);
    TAKE(library->context_free, table, QNN_CONTEXT_FREE);
    TAKE(library->graph_retrieve, table, QNN_GRAPH_RETRIEVE);
    TAKE(library->graph_execute, table, QNN_GRAPH_EXECUTE);
    TAKE(library->error_message, table, QNN_ERROR_GET_MESSAGE);
    bool needed = complete;
    TAKE(library->get_sub_events, table, QNN_PROFILE_GET_SUB_EVENTS);
    return needed;
}

static bool load_backend(struct library *library, const char *name, struct failure *failure) {
    void *entry = NULL;
    if (open_library(name, "QnnInterface_getProviders", &entry, failure) == NULL) {
        return false;
    }
    qnn_get_providers_fn get_providers;
    memcpy(&get_providers, &entry, sizeof(entry));
    Dl_info where;
    bool known = dladdr(entry, &where) != 0 && where.dli_fname != NULL;
    copy_text(library->path, sizeof(library->path), known ? where.dli_fname : name);
    const qnn_interface **list = NULL;
    uint32_t count = 0;
    qnn_error error = get_providers(&list, &count);
    if (error != QNN_OK || list == NULL) {
        return fail(failure, error, "QnnInterface_getProviders", "%.300s offers no interface", name);
    }
    for (uint32_t i = 0; i < count && i < MAX_PROVIDERS; i++) {
        if (list[i] != NULL && list[i]->backend_id == QNN_BACKEND_HTP) {
            library->interface = list[i];
            return take_backend_table(library) ||
                   fail(failure, 0, "QnnInterface_getProviders", "%.300s lacks functions that are needed", name);
        }
    }
    return fail(failure, 0, "QnnInterface_getProviders", "%.300s is no HTP library", name);
}

static bool load_system(struct library *library, const char *name, struct failure *failure) {
    void *entry = NULL;
    if (open_library(name, "QnnSystemInterface_getProviders", &entry, failure) == NULL) {
        return false;
    }
    qnn_system_get_providers_fn get_providers;
    memcpy(&get_providers, &entry, sizeof(entry));
    const qnn_system_interface **list = NULL;
    uint32_t count = 0;
    qnn_error error = get_providers(&list, &count);
    if (error != QNN_OK || count == 0 || list == NULL || list[0] == NULL) {
        return fail(failure, error, "QnnSystemInterface_getProviders", "%.300s offers no interface", name);
    }
    void *const *table = list[0]->table;
    bool complete = true;
    TAKE(library->system_create, table, QNN_SYSTEM_CONTEXT_CREATE);
    TAKE(library->binary_info, table, QNN_SYSTEM_CONTEXT_GET_BINARY_INFO);
    TAKE(library->system_free, table, QNN_SYSTEM_CONTEXT_FREE);
    return complete ||
           fail(failure, 0, "QnnSystemInterface_getProviders", "%.300s lacks functions that are needed", name);
}

bool library_load(struct library *library, const char *backend, const char *system, struct failure *failure) {
    memset(library, 0, sizeof(*library));
    return load_backend(library, backend, failure) && load_system(library, system, failure);
}

void library_explain(const struct library *library, struct failure *failure) {
    if (failure->code == 0) {
        return;
    }
    struct text text = {failure->message, sizeof(failure->message), strlen(failure->message), false};
    const char *said = NULL;
    if (library->error_message == NULL || library->error_message(failure->code, &said) != QNN_OK) {
        said = NULL;
    }
    const char *own = known_error(failure->code);
    const char *meaning = said != NULL && said[0] != '\0' ? said : own != NULL ? own : "no text known";
    text_add(&text, " (QNN error %llu: %.300s", (unsigned long long)failure->code, meaning);
    pthread_mutex_lock(&log_lock);
    if (first_error_line[0] != '\0') {
        text_add(&text, "; the library said: %.400s", first_error_line);
    }
    pthread_mutex_unlock(&log_lock);
    text_add(&text, ")");
}

size_t library_json(const struct library *library, const char *build_id, char *json, size_t capacity) {
    const qnn_interface *interface = library->interface;
    const qnn_version *core = &interface->core_api, *backend = &interface->backend_api;
    struct text text = text_in(json, capacity);
    text_add(&text, "{\"provider\":");
    text_add_json(&text, interface->provider);
    text_add(&text, ",\"build_id\":");
    text_add_json(&text, build_id);
    text_add(&text, ",\"core_api\":\"%u.%u.%u\",\"backend_api\":\"%u.%u.%u\",\"path\":", core->major, core->minor,
             core->patch, backend->major, backend->minor, backend->patch);
    text_add_json(&text, library->path);
    text_add(&text, "}");
    return text.cut ? 0 : text.length;
}
