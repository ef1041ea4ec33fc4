#include "htp_chain.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "htp_behaviour.h"

static const qnn_interface *found;
static char problem[512];

static void load(void) {
    const char *path = behaviour()->chain;
    const qnn_interface **list = NULL;
    uint32_t count = 0;
    qnn_get_providers_fn get_providers;
    if (path[0] == '\0') {
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *entry = library != NULL ? dlsym(library, "QnnInterface_getProviders") : NULL;
    if (entry == NULL) {
        const char *reason = dlerror();
        snprintf(problem, sizeof(problem), "standin.conf: chain: %.400s", reason != NULL ? reason : path);
        return;
    }
    memcpy(&get_providers, &entry, sizeof(entry));
    if (get_providers(&list, &count) != QNN_OK || count == 0) {
        snprintf(problem, sizeof(problem), "standin.conf: chain: %.400s offers no interface", path);
        return;
    }
    found = list[0];
}

const qnn_interface *chain(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return found;
}

const char *chain_problem(void) {
    return problem;
}
