/* Values out of the texts of /proc. */
#ifndef HEAPPROF_PROC_TEXT_H
#define HEAPPROF_PROC_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* The number of the line that starts with `key` ("VmRSS:"), times `unit`; false: there is none. */
bool proc_value(const char *text, const char *key, uint64_t unit, uint64_t *value);

/* Bytes of the range of one line of /proc/self/maps ("start-end ..."), 0 when it is none. */
uint64_t proc_range(const char *line);

/* Whether the target of a link in /proc/self/fd, or the name of a mapping, is a DMA-BUF. */
bool proc_is_dma_buffer(const char *name);

#endif
