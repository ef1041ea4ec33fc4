/* Files: read-only maps, and writes that leave the old file or the new one, never a half. */
#ifndef HEAPPROF_FILES_H
#define HEAPPROF_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { PATH_LIMIT = 4096 };

struct map {
    const unsigned char *data; /* NULL when the file is empty */
    size_t size;
};

/* Maps a regular file read-only. On failure errno is set and false returned. */
bool map_file(const char *path, struct map *map);
void unmap_file(struct map *map);

/* Writes "<path>.tmp" and renames it to `path`; `durable`: with fsync. On failure *call names the
 * system call, errno is set, and nothing is left behind. */
bool write_file(const char *path, const void *data, size_t size, bool durable, const char **call);

/* Removes a "<path>.tmp" that a killed writer left. */
void remove_leftover(const char *path);

/* Writes everything to a descriptor; false with errno set. */
bool write_all(int descriptor, const void *data, size_t size);

/* Reads a small file whole into `buffer`, ended by NUL; the number of bytes, or -1
 * and an empty text. */
long read_small_file(const char *path, char *buffer, size_t capacity);

#endif
