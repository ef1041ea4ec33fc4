#include "session.h"

#include "report.h"

static void tell_library(struct session *session) {
    const char *build_id = NULL;
    char json[2048];
    if (session->library.get_build_id(&build_id) != QNN_OK) {
        build_id = NULL;
    }
    if (library_json(&session->library, build_id, json, sizeof(json)) > 0) {
        report("library", json);
    }
}

bool session_open(struct session *session, struct failure *failure) {
    struct library *library = &session->library;
    const struct options *options = session->options;
    qnn_error error = library->log_create(library_log, (uint32_t)options->log_level, &session->log);
    if (error != QNN_OK) {
        session->log = NULL;
        return fail(failure, error, "logCreate", "the library's log can't be opened");
    }
    error = library->backend_create(session->log, NULL, &session->backend);
    if (error != QNN_OK) {
        session->backend = NULL;
        return fail(failure, error, "backendCreate", "the HTP backend can't be created");
    }
    tell_library(session);
    error = library->device_create(session->log, NULL, &session->device);
    if (error != QNN_OK) {
        session->device = NULL;
        return fail(failure, error, "deviceCreate", "the HTP device can't be opened");
    }
    if (session->heap.wanted) {
        error = library->profile_create(session->backend, (uint32_t)options->profile_level, &session->profile);
        if (error != QNN_OK || session->profile == NULL) {
            session->profile = NULL;
            return fail(failure, error, "profileCreate", "profiling can't be set up");
        }
        session->heap.profile = session->profile;
    }
    return performance_raise(&session->vote, library, (unsigned)options->performance_mode, failure);
}

static void close_one(qnn_free_fn release, qnn_handle *handle, const char *call, struct failure *failure) {
    if (*handle == NULL) {
        return;
    }
    qnn_error error = release(*handle);
    *handle = NULL;
    if (error != QNN_OK) {
        fail(failure, error, call, "%s failed", call);
    }
}

bool session_close(struct session *session, struct failure *failure) {
    const struct library *library = &session->library;
    performance_lower(&session->vote, failure);
    close_one(library->profile_free, &session->profile, "profileFree", failure);
    close_one(library->device_free, &session->device, "deviceFree", failure);
    close_one(library->backend_free, &session->backend, "backendFree", failure);
    close_one(library->log_free, &session->log, "logFree", failure);
    return !failure->set;
}
