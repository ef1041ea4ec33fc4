/* What the runner says on stderr: whole lines, one write each, so that they never mix or get lost. */
#ifndef HEAPPROF_SAY_H
#define HEAPPROF_SAY_H

/* One line "heapprof_runner: ..." on stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
