#include "proc_text.h"

#include <stddef.h>
#include <string.h>

static const char *line_of(const char *text, const char *key) {
    size_t length = strlen(key);
    while (text != NULL && strncmp(text, key, length) != 0) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    return text != NULL ? text + length : NULL;
}

bool proc_value(const char *text, const char *key, uint64_t unit, uint64_t *value) {
    const char *at = line_of(text, key);
    uint64_t number = 0;
    if (at == NULL) {
        return false;
    }
    at += strspn(at, " \t");
    if (*at < '0' || *at > '9') {
        return false;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
    }
    *value = number * unit;
    return true;
}

static const char *hexadecimal(const char *at, uint64_t *number) {
    *number = 0;
    for (;; at++) {
        char digit = *at;
        if (digit >= '0' && digit <= '9') {
            *number = *number * 16 + (uint64_t)(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            *number = *number * 16 + (uint64_t)(digit - 'a' + 10);
        } else {
            return at;
        }
    }
}

uint64_t proc_range(const char *line) {
    uint64_t start = 0, end = 0;
    const char *at = hexadecimal(line, &start);
    if (*at != '-') {
        return 0;
    }
    at = hexadecimal(at + 1, &end);
    return *at == ' ' && end > start ? end - start : 0;
}

bool proc_is_dma_buffer(const char *name) {
    return strncmp(name, "/dmabuf", 7) == 0 || strncmp(name, "anon_inode:dmabuf", 17) == 0;
}
