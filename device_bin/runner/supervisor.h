/* The parent process: it never loads a vendor library, so nothing they do can take it down. */
#ifndef HEAPPROF_SUPERVISOR_H
#define HEAPPROF_SUPERVISOR_H

#include "options.h"

/* Forks the measuring child, watches it, writes the status file; the runner's exit code. */
int supervise(const struct options *options);

#endif
