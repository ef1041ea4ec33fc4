#include "delegates.h"

#include <string.h>

#include "../standin/flatbuffer.h"

enum {
    PROGRAM_PLANS = 1,
    PROGRAM_INLINE_DATA = 3,
    PROGRAM_SEGMENTS = 4,
    PLAN_DELEGATES = 7,
    HEADER_BYTES = 32,
    PREFIX_BYTES = 256,
    HIGHEST_LOG_LEVEL = 5,
};

static const uint8_t prefix_magic[4] = {0xCD, 0xAB, 0x78, 0x56};

static bool text_is(struct flat *flat, flat_table table, unsigned field, const char *wanted) {
    struct flat_vector text = flat_vector_of(flat, table, field, 1);
    return text.at != 0 && text.count == strlen(wanted) && memcmp(flat->data + text.at, wanted, text.count) == 0;
}

static void read_options(struct flat *flat, struct flat_vector value, struct delegate *delegate) {
    if (flat->bad || value.count < 8) {
        return;
    }
    struct flat spec = {flat->data + value.at, value.count, false};
    if (flat_read_u32(&spec, 0) == value.count - 4) { /* newer versions put the length in front */
        spec.data += 4;
        spec.size -= 4;
    }
    flat_table options = flat_root(&spec);
    uint8_t online = 0;
    /* Older versions have one more field, a text, before these: its offset is no log level. */
    unsigned shift = flat_u32(&spec, options, 3, 0) > HIGHEST_LOG_LEVEL ? 1 : 0;
    delegate->backend = flat_u32(&spec, flat_child(&spec, options, 1), 0, 0);
    flat_bytes(&spec, options, 4 + shift, &online, sizeof(online));
    delegate->online_prepare = online != 0;
    delegate->profile_level = flat_u32(&spec, options, 6 + shift, 0);
}

static void take_payload(struct delegate *delegate, const uint8_t *data, size_t size) {
    if (size > PREFIX_BYTES && memcmp(data, prefix_magic, sizeof(prefix_magic)) == 0) {
        data += PREFIX_BYTES;
        size -= PREFIX_BYTES;
    }
    delegate->payload = data;
    delegate->payload_size = size;
}

static bool find_payload(struct flat *flat, flat_table root, flat_table entry, size_t size, uint64_t base,
                         struct delegate *delegate) {
    flat_table place = flat_child(flat, entry, 1);
    uint8_t in_segment = 0;
    flat_bytes(flat, place, 0, &in_segment, sizeof(in_segment));
    uint32_t index = flat_u32(flat, place, 1, 0);
    if (in_segment == 0) {
        struct flat_vector all = flat_vector_of(flat, root, PROGRAM_INLINE_DATA, 4);
        struct flat_vector bytes = flat_vector_of(flat, flat_element(flat, all, index), 0, 1);
        take_payload(delegate, flat->data + bytes.at, bytes.count);
        return bytes.at != 0 && !flat->bad;
    }
    struct flat_vector all = flat_vector_of(flat, root, PROGRAM_SEGMENTS, 4);
    flat_table segment = flat_element(flat, all, index);
    uint64_t at = flat_u64(flat, segment, 0), length = flat_u64(flat, segment, 1);
    if (flat->bad || base > size || at > size - base || length > size - base - at) {
        return false;
    }
    take_payload(delegate, flat->data + base + at, (size_t)length);
    return true;
}

int delegates_read(const uint8_t *data, size_t size, struct delegate *delegates) {
    int count = 0;
    uint64_t base = 0;
    if (size < HEADER_BYTES || memcmp(data + 4, "ET12", 4) != 0) {
        return -1;
    }
    if (memcmp(data + 8, "eh00", 4) == 0) {
        memcpy(&base, data + 24, sizeof(base));
    }
    struct flat flat = {data, size, false};
    flat_table root = flat_root(&flat);
    struct flat_vector plans = flat_vector_of(&flat, root, PROGRAM_PLANS, 4);
    struct flat_vector entries = flat_vector_of(&flat, flat_element(&flat, plans, 0), PLAN_DELEGATES, 4);
    for (uint32_t i = 0; i < entries.count && count < DELEGATE_LIMIT && !flat.bad; i++) {
        flat_table entry = flat_element(&flat, entries, i);
        struct delegate *delegate = &delegates[count];
        memset(delegate, 0, sizeof(*delegate));
        if (!text_is(&flat, entry, 0, "QnnBackend")) {
            continue;
        }
        struct flat_vector specs = flat_vector_of(&flat, entry, 2, 4);
        for (uint32_t spec = 0; spec < specs.count && !flat.bad; spec++) {
            flat_table one = flat_element(&flat, specs, spec);
            if (text_is(&flat, one, 0, "qnn_compile_spec")) {
                read_options(&flat, flat_vector_of(&flat, one, 1, 1), delegate);
            }
        }
        if (!find_payload(&flat, root, entry, size, base, delegate)) {
            return -1;
        }
        count++;
    }
    return flat.bad ? -1 : count;
}
