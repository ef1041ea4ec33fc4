#include "text.h"

#include <stdio.h>
#include <string.h>

struct text text_in(char *buffer, size_t capacity) {
    struct text text = {buffer, capacity, 0, false};
    buffer[0] = '\0';
    return text;
}

void text_add_bytes(struct text *text, const char *bytes, size_t count) {
    size_t room = text->capacity - text->length - 1;
    if (count > room) {
        text->cut = true;
        count = room;
    }
    memcpy(text->buffer + text->length, bytes, count);
    text->length += count;
    text->buffer[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...) {
    size_t room = text->capacity - text->length;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text->buffer + text->length, room, format, arguments);
    va_end(arguments);
    if (wanted < 0 || (size_t)wanted >= room) {
        text->cut = true;
        text->length = strlen(text->buffer);
        return;
    }
    text->length += (size_t)wanted;
}

void text_add_known(struct text *text, bool known, uint64_t number, const char *otherwise) {
    if (known) {
        text_add(text, "%llu", (unsigned long long)number);
    } else {
        text_add(text, "%s", otherwise);
    }
}

static bool continues(unsigned char byte) {
    return (byte & 0xc0) == 0x80;
}

size_t utf8_sequence(const unsigned char *bytes, size_t left) {
    unsigned char first = bytes[0];
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf && left >= 2 && continues(bytes[1])) {
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef && left >= 3 && continues(bytes[1]) && continues(bytes[2])) {
        bool overlong = first == 0xe0 && bytes[1] < 0xa0;
        bool surrogate = first == 0xed && bytes[1] >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xf0 && first <= 0xf4 && left >= 4 && continues(bytes[1]) && continues(bytes[2]) &&
        continues(bytes[3])) {
        bool overlong = first == 0xf0 && bytes[1] < 0x90;
        bool beyond = first == 0xf4 && bytes[1] >= 0x90;
        return overlong || beyond ? 0 : 4;
    }
    return 0;
}

void text_add_json(struct text *text, const char *value) {
    if (value == NULL) {
        text_add(text, "null");
        return;
    }
    const unsigned char *at = (const unsigned char *)value;
    size_t left = strlen(value);
    text_add_bytes(text, "\"", 1);
    while (left > 0) {
        size_t count = utf8_sequence(at, left);
        if (count == 0) {
            text_add(text, "\\ufffd");
            count = 1;
        } else if (*at == '"' || *at == '\\') {
            text_add(text, "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7f) {
            text_add(text, "\\u%04x", *at);
        } else {
            text_add_bytes(text, (const char *)at, count);
        }
        at += count;
        left -= count;
    }
    text_add_bytes(text, "\"", 1);
}

void make_printable(char *line) {
    unsigned char *at = (unsigned char *)line;
    size_t left = strlen(line);
    while (left > 0) {
        size_t count = utf8_sequence(at, left);
        /* C1 controls (U+0080..U+009F) can drive a terminal as ESC does. */
        bool c1 = count == 2 && at[0] == 0xc2 && at[1] < 0xa0;
        if (count == 0 || c1) {
            memset(at, '?', count == 0 ? 1 : count);
            count = count == 0 ? 1 : count;
        } else if (*at < 0x20 || *at == 0x7f) {
            *at = ' ';
        }
        at += count;
        left -= count;
    }
    while (at > (unsigned char *)line && at[-1] == ' ') {
        *--at = '\0';
    }
}

bool parse_number(const char *value, uint64_t maximum, uint64_t *number) {
    uint64_t result = 0;
    if (*value == '\0') {
        return false;
    }
    for (; *value != '\0'; value++) {
        unsigned digit = (unsigned char)*value - (unsigned)'0';
        if (digit > 9 || result > (UINT64_MAX - digit) / 10) {
            return false;
        }
        result = result * 10 + digit;
    }
    *number = result;
    return result <= maximum;
}

void copy_text(char *to, size_t capacity, const char *value) {
    size_t length = strlen(value);
    length = length < capacity ? length : capacity - 1;
    memcpy(to, value, length);
    to[length] = '\0';
}
