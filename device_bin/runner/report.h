/* The pipe from the measuring child to the supervisor.
 *
 * The child tells, the supervisor writes: whatever a vendor library does to the child's memory or
 * life, everything told until then is safe. One message is one line "<key> <payload>". */
#ifndef HEAPPROF_REPORT_H
#define HEAPPROF_REPORT_H

#include <stddef.h>
#include <stdint.h>

enum { REPORT_LIMIT = 64 * 1024 }; /* longest message, in bytes */

/* Stage names, in the order of a run; `stage` messages carry the index. */
enum stage { STAGE_LOAD, STAGE_SETUP, STAGE_CREATE, STAGE_EXECUTE, STAGE_FREE, STAGE_WRITE, STAGE_COUNT };
extern const char *const stage_names[STAGE_COUNT];

/* Nanoseconds of the monotonic clock. */
uint64_t now_ns(void);

void report_open(int descriptor);

/* Announces a stage on stderr ("stage create model=..."), then to the supervisor. */
void report_stage(enum stage stage, const char *model, uint64_t cycle);

/* `key`: library, context, heap, error (JSON payloads) or end
 * ("<exit code> <stage>"). */
void report(const char *key, const char *payload);

#endif
