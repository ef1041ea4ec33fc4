#include "htp_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "htp_behaviour.h"

enum { LINE_LIMIT = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static qnn_log_callback current;
static uint32_t current_level;

void log_to(qnn_log_callback callback, uint32_t level) {
    pthread_mutex_lock(&lock);
    current = callback;
    current_level = level;
    pthread_mutex_unlock(&lock);
}

void log_set_level(uint32_t level) {
    pthread_mutex_lock(&lock);
    current_level = level;
    pthread_mutex_unlock(&lock);
}

void log_line(uint32_t level, const char *format, ...) {
    pthread_mutex_lock(&lock);
    qnn_log_callback callback = level <= current_level ? current : NULL;
    pthread_mutex_unlock(&lock);
    if (callback != NULL) {
        va_list arguments;
        va_start(arguments, format);
        callback(format, level, 0, arguments);
        va_end(arguments);
    }
}

static uint32_t level_of(const char *line) {
    static const char letters[] = "EWIVD";
    const char *at = line[0] == '<' && line[1] != '\0' && line[2] == '>' ? strchr(letters, line[1]) : NULL;
    return at != NULL ? (uint32_t)(at - letters) + QNN_LOG_ERROR : QNN_LOG_WARN;
}

static void log_one(const char *line) {
    bool marked = line[0] == '<' && line[1] != '\0' && line[2] == '>';
    log_line(level_of(line), "%s", marked ? line + 3 + strspn(line + 3, " ") : line);
}

void log_file_lines(void) {
    static bool done;
    const struct behaviour *b = behaviour();
    char path[sizeof(b->folder) + sizeof(b->log_file)], line[LINE_LIMIT];
    if (done || b->log_file[0] == '\0') {
        return;
    }
    done = true;
    snprintf(path, sizeof(path), "%s%s", b->folder, b->log_file);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        log_line(QNN_LOG_ERROR, "standin.conf: log_file %s can't be read", path);
        return;
    }
    size_t length = 0;
    char byte;
    while (read(descriptor, &byte, 1) == 1) {
        if (byte == '\n') {
            line[length] = '\0';
            log_one(line);
            length = 0;
        } else if (length < sizeof(line) - 1 && byte != '\r') {
            line[length++] = byte;
        }
    }
    close(descriptor);
    line[length] = '\0';
    if (length > 0) {
        log_one(line);
    }
}

static const char *noise_text(enum noise_kind kind, size_t *length) {
    /* Binary noise has NUL bytes, broken UTF-8 and no line ends; ANSI noise drives a terminal. */
    static const char binary[] = "\0\xff\xfe\x80\xc3(\x01\x02\x7f\xed\xa0\x80";
    static const char ansi[] = "\033[2J\033[31m[bold red]markup[/]\033]0;title\a\r\033[1000D";
    static const char text[] = "DSP:before_context_created (bytes), 1\nnoise, noise, noise\n";
    const char *noise = kind == NOISE_BINARY ? binary : kind == NOISE_ANSI ? ansi : text;
    *length = (kind == NOISE_BINARY ? sizeof(binary) : kind == NOISE_ANSI ? sizeof(ansi) : sizeof(text)) - 1;
    return noise;
}

void make_noise(void) {
    static bool done;
    const struct behaviour *b = behaviour();
    char block[8192];
    size_t length = 0;
    if (done || b->noise_bytes == 0) {
        return;
    }
    done = true;
    const char *noise = noise_text(b->noise, &length);
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = noise[i % length];
    }
    for (uint64_t left = b->noise_bytes; left > 0;) {
        size_t count = left < sizeof(block) ? (size_t)left : sizeof(block);
        ssize_t written = write(STDOUT_FILENO, block, count);
        if (written <= 0) {
            return;
        }
        left -= (uint64_t)written;
    }
}
