/* Bounded text building and JSON escaping, without stdio streams. */
#ifndef HEAPPROF_TEXT_H
#define HEAPPROF_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text under construction in a caller's buffer; always ended by NUL. Too long: `cut` is set. */
struct text {
    char *buffer;
    size_t capacity, length;
    bool cut;
};

struct text text_in(char *buffer, size_t capacity);
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t count);

/* Appends `value` as a JSON string (NULL: null); invalid UTF-8 becomes U+FFFD. */
void text_add_json(struct text *text, const char *value);

/* Appends a number, or `otherwise` when it is not known. */
void text_add_known(struct text *text, bool known, uint64_t number, const char *otherwise);

/* Number of bytes of the valid UTF-8 sequence at `bytes` (`left` bytes remain), or 0. */
size_t utf8_sequence(const unsigned char *bytes, size_t left);

/* Makes one printable line of `line`: control characters become spaces, invalid UTF-8 '?'. */
void make_printable(char *line);

/* Reads a whole decimal number; false when it is anything else or above `maximum`. */
bool parse_number(const char *value, uint64_t maximum, uint64_t *number);

/* Copies `value` to `to`, cut to fit and ended by NUL. */
void copy_text(char *to, size_t capacity, const char *value);

#endif
