/* The memory ledger: what this process and its system hold at each checkpoint, from /proc alone.
 *
 * One JSON object a line. What the kernel does not offer is null, never zero. All sizes in bytes. */
#ifndef HEAPPROF_LEDGER_H
#define HEAPPROF_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "failure.h"

struct ledger {
    const char *path;
    int descriptor; /* -1: off */
    uint64_t start_ns;
    int error;      /* errno of a failed write, told at the end */
};

/* Opens the file ("" = off); false with the failure told. */
bool ledger_open(struct ledger *ledger, const char *path, struct failure *failure);
void ledger_write(struct ledger *ledger, const char *checkpoint, uint64_t cycle);
bool ledger_close(struct ledger *ledger, struct failure *failure);

#endif
