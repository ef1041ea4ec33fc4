/* The part of bionic's <sys/stat.h> (arm64, API 28) that is used, from facts about its interface. */
#ifndef HEAPPROF_BIONIC_SYS_STAT_H
#define HEAPPROF_BIONIC_SYS_STAT_H

#include <sys/types.h>
#include <time.h>

struct stat {
    unsigned long st_dev, st_ino;
    mode_t st_mode;
    unsigned int st_nlink, st_uid, st_gid;
    unsigned long st_rdev, pad1;
    off_t st_size;
    int st_blksize, pad2;
    long st_blocks;
    struct timespec st_atim, st_mtim, st_ctim;
    unsigned int pad3, pad4;
};

#define S_ISREG(mode) (((mode) & 0170000) == 0100000)
#define S_ISDIR(mode) (((mode) & 0170000) == 0040000)

int fstat(int descriptor, struct stat *status);
int mkdir(const char *path, mode_t mode);

#endif
