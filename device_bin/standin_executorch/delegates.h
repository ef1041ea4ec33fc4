/* The QNN delegates of an ExecuTorch program (published schema/program.fbs and qc_compiler_spec.fbs). */
#ifndef STANDIN_DELEGATES_H
#define STANDIN_DELEGATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DELEGATE_LIMIT = 64, BACKEND_HTP = 2 };

struct delegate {
    const uint8_t *payload; /* the context binary, without ExecuTorch's prefix */
    size_t payload_size;
    uint32_t backend, profile_level;
    bool online_prepare;
};

/* Fills `delegates` (DELEGATE_LIMIT of them); how many there are, or -1 when the file is no program. */
int delegates_read(const uint8_t *data, size_t size, struct delegate *delegates);

#endif
