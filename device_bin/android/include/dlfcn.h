/* The part of bionic's <dlfcn.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_DLFCN_H
#define HEAPPROF_BIONIC_DLFCN_H

#define RTLD_LOCAL 0
#define RTLD_NOW 2

typedef struct {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} Dl_info;

int dladdr(const void *address, Dl_info *info);
char *dlerror(void);
void *dlopen(const char *name, int flags);
void *dlsym(void *library, const char *name);

#endif
