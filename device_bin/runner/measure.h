/* The measurement, from loading the libraries to the last free. Runs in the child process. */
#ifndef HEAPPROF_MEASURE_H
#define HEAPPROF_MEASURE_H

#include "options.h"

/* Does everything and tells the supervisor; the exit code of the child. */
int measure(const struct options *options);

#endif
