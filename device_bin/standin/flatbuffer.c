#include "flatbuffer.h"

#include <string.h>

static bool within(struct flat *flat, size_t at, size_t size) {
    if (size > flat->size || at > flat->size - size) {
        flat->bad = true;
        return false;
    }
    return true;
}

uint32_t flat_read_u32(struct flat *flat, size_t at) {
    uint32_t value = 0;
    if (within(flat, at, sizeof(value))) {
        memcpy(&value, flat->data + at, sizeof(value)); /* little-endian, as all our targets are */
    }
    return value;
}

static uint16_t read_u16(struct flat *flat, size_t at) {
    uint16_t value = 0;
    if (within(flat, at, sizeof(value))) {
        memcpy(&value, flat->data + at, sizeof(value));
    }
    return value;
}

/* Follows the offset stored at `at`; 0 when it is bad. */
static size_t follow(struct flat *flat, size_t at) {
    uint32_t offset = flat_read_u32(flat, at);
    if (flat->bad || offset == 0 || offset > flat->size - at) {
        flat->bad = true;
        return 0;
    }
    return at + offset;
}

flat_table flat_root(struct flat *flat) {
    return follow(flat, 0);
}

/* The place of a field's value of `size` bytes, or 0 when the table doesn't have it. */
static size_t find(struct flat *flat, flat_table table, unsigned field, size_t size) {
    if (table == 0 || flat->bad || !within(flat, table, 4)) {
        return 0;
    }
    int64_t back = (int32_t)flat_read_u32(flat, table);
    int64_t vtable = (int64_t)table - back;
    if (vtable < 0 || !within(flat, (size_t)vtable, 4)) {
        flat->bad = true;
        return 0;
    }
    size_t slot = 4 + 2 * (size_t)field;
    size_t vtable_size = read_u16(flat, (size_t)vtable);
    if (slot + 2 > vtable_size || !within(flat, (size_t)vtable, vtable_size)) {
        return 0;
    }
    size_t offset = read_u16(flat, (size_t)vtable + slot);
    if (offset == 0 || !within(flat, table + offset, size)) {
        return 0;
    }
    return table + offset;
}

uint32_t flat_u32(struct flat *flat, flat_table table, unsigned field, uint32_t otherwise) {
    size_t at = find(flat, table, field, 4);
    return at != 0 ? flat_read_u32(flat, at) : otherwise;
}

uint64_t flat_u64(struct flat *flat, flat_table table, unsigned field) {
    uint64_t value = 0;
    flat_bytes(flat, table, field, &value, sizeof(value));
    return value;
}

bool flat_bytes(struct flat *flat, flat_table table, unsigned field, void *to, size_t size) {
    size_t at = find(flat, table, field, size);
    memset(to, 0, size);
    if (at != 0) {
        memcpy(to, flat->data + at, size);
    }
    return at != 0;
}

flat_table flat_child(struct flat *flat, flat_table table, unsigned field) {
    size_t at = find(flat, table, field, 4);
    return at != 0 ? follow(flat, at) : 0;
}

struct flat_vector flat_vector_of(struct flat *flat, flat_table table, unsigned field, size_t width) {
    struct flat_vector vector = {0, 0};
    size_t at = flat_child(flat, table, field);
    if (at == 0) {
        return vector;
    }
    uint64_t count = flat_read_u32(flat, at);
    if (count * width <= flat->size && within(flat, at + 4, (size_t)(count * width))) {
        vector.at = at + 4;
        vector.count = (uint32_t)count;
    } else {
        flat->bad = true;
    }
    return vector;
}

flat_table flat_element(struct flat *flat, struct flat_vector vector, uint32_t index) {
    return index < vector.count ? follow(flat, vector.at + 4 * (size_t)index) : 0;
}
