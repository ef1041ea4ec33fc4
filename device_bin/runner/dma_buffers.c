#include "dma_buffers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "proc_text.h"

enum { MAX_SEEN = 1024, LINE_LIMIT = 4096 };

struct seen {
    uint64_t inodes[MAX_SEEN];
    unsigned count;
};

/* A buffer has one inode however many descriptors it has; kernels before 5.14 don't show it. */
static bool is_new(struct seen *seen, const char *text) {
    uint64_t inode = 0;
    if (!proc_value(text, "ino:", 1, &inode)) {
        return true;
    }
    for (unsigned i = 0; i < seen->count; i++) {
        if (seen->inodes[i] == inode) {
            return false;
        }
    }
    if (seen->count < MAX_SEEN) {
        seen->inodes[seen->count++] = inode;
    }
    return true;
}

static bool add_descriptor(const char *name, struct seen *seen, uint64_t *sum) {
    char path[320], target[64], text[1024];
    uint64_t size = 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%s", name);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length <= 0) {
        return true; /* the folder's own descriptor, or closed in between */
    }
    target[length] = '\0';
    if (!proc_is_dma_buffer(target)) {
        return true;
    }
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", name);
    if (read_small_file(path, text, sizeof(text)) < 0 || !proc_value(text, "size:", 1, &size)) {
        return false; /* the kernel shows no sizes: the sum would be a lie */
    }
    *sum += is_new(seen, text) ? size : 0;
    return true;
}

bool dma_buffers_held(uint64_t *bytes) {
    static struct seen seen; /* one ledger, one thread */
    DIR *folder = opendir("/proc/self/fd");
    bool told = true;
    *bytes = 0;
    seen.count = 0;
    if (folder == NULL) {
        return false;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            told = add_descriptor(entry->d_name, &seen, bytes) && told;
        }
    }
    closedir(folder);
    return told;
}

static void add_line(const char *line, uint64_t *sum) {
    const char *name = strchr(line, '/');
    if (name == NULL) {
        name = strstr(line, "anon_inode:");
    }
    if (name != NULL && proc_is_dma_buffer(name)) {
        *sum += proc_range(line);
    }
}

bool dma_buffers_mapped(uint64_t *bytes) {
    char buffer[LINE_LIMIT];
    size_t kept = 0;
    *bytes = 0;
    int descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    for (;;) {
        ssize_t count = read(descriptor, buffer + kept, sizeof(buffer) - 1 - kept);
        if (count <= 0) {
            break;
        }
        kept += (size_t)count;
        buffer[kept] = '\0';
        char *line = buffer;
        for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
            *end = '\0';
            add_line(line, bytes);
            line = end + 1;
        }
        kept -= (size_t)(line - buffer);
        memmove(buffer, line, kept);
        if (kept == sizeof(buffer) - 1) {
            kept = 0; /* a line longer than any name of a DMA-BUF */
        }
    }
    close(descriptor);
    return true;
}
