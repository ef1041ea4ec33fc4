/* Reading FlatBuffers of unknown origin: every access is checked against the buffer.
 *
 * A check that fails sets `bad` in the buffer and yields zero; callers look at it once at the end. */
#ifndef STANDIN_FLATBUFFER_H
#define STANDIN_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat {
    const uint8_t *data;
    size_t size;
    bool bad;
};

/* A table by its place in the buffer; 0 stands for an absent one. */
typedef size_t flat_table;

struct flat_vector {
    size_t at; /* of the first element */
    uint32_t count;
};

flat_table flat_root(struct flat *flat);
uint32_t flat_u32(struct flat *flat, flat_table table, unsigned field, uint32_t otherwise);
uint64_t flat_u64(struct flat *flat, flat_table table, unsigned field);

/* Copies a structure that lies inline; false (and zeros) when the field is absent. */
bool flat_bytes(struct flat *flat, flat_table table, unsigned field, void *to, size_t size);
flat_table flat_child(struct flat *flat, flat_table table, unsigned field);

/* A vector of elements of `width` bytes; an absent one is empty. */
struct flat_vector flat_vector_of(struct flat *flat, flat_table table, unsigned field, size_t width);

/* Element of a vector of tables. */
flat_table flat_element(struct flat *flat, struct flat_vector vector, uint32_t index);
uint32_t flat_read_u32(struct flat *flat, size_t at);

#endif
