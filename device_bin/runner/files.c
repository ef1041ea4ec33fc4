#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool close_failed(int descriptor) {
    int error = errno;
    close(descriptor);
    errno = error;
    return false;
}

bool map_file(const char *path, struct map *map) {
    struct stat status;
    map->data = NULL;
    map->size = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    if (fstat(descriptor, &status) != 0) {
        return close_failed(descriptor);
    }
    if (!S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        return close_failed(descriptor);
    }
    map->size = (size_t)status.st_size;
    if (map->size > 0) {
        void *data = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            return close_failed(descriptor);
        }
        map->data = data;
    }
    close(descriptor);
    return true;
}

void unmap_file(struct map *map) {
    if (map->data != NULL) {
        munmap((void *)(size_t)map->data, map->size);
        map->data = NULL;
    }
}

bool write_all(int descriptor, const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        ssize_t count = write(descriptor, at, size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static bool temporary_name(const char *path, char *name, size_t capacity) {
    int length = snprintf(name, capacity, "%s.tmp", path);
    if (length < 0 || (size_t)length >= capacity) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

bool write_file(const char *path, const void *data, size_t size, bool durable, const char **call) {
    char temporary[PATH_LIMIT];
    *call = "open";
    if (!temporary_name(path, temporary, sizeof(temporary))) {
        return false;
    }
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        return false;
    }
    bool good = true;
    if (!write_all(descriptor, data, size)) {
        *call = "write";
        good = false;
    } else if (durable && fsync(descriptor) != 0) {
        *call = "fsync";
        good = false;
    }
    if (!good) {
        close_failed(descriptor);
    } else if (close(descriptor) != 0) {
        *call = "close";
        good = false;
    } else if (rename(temporary, path) != 0) {
        *call = "rename";
        good = false;
    }
    if (!good) {
        int error = errno;
        unlink(temporary);
        errno = error;
    }
    return good;
}

void remove_leftover(const char *path) {
    char temporary[PATH_LIMIT];
    if (temporary_name(path, temporary, sizeof(temporary))) {
        unlink(temporary);
    }
}

long read_small_file(const char *path, char *buffer, size_t capacity) {
    size_t length = 0;
    buffer[0] = '\0';
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return -1;
    }
    while (length < capacity - 1) {
        ssize_t count = read(descriptor, buffer + length, capacity - 1 - length);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        length += (size_t)count;
    }
    close(descriptor);
    buffer[length] = '\0';
    return (long)length;
}
