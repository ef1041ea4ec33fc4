/* The part of bionic's <dirent.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_DIRENT_H
#define HEAPPROF_BIONIC_DIRENT_H

#include <stdint.h>

struct dirent {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[256];
};

typedef struct DIR DIR;

int closedir(DIR *folder);
DIR *opendir(const char *path);
struct dirent *readdir(DIR *folder);

#endif
