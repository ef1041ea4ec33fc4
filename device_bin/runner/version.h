/* The runner's version and target, as its status file and --version tell them. */
#ifndef HEAPPROF_VERSION_H
#define HEAPPROF_VERSION_H

#define RUNNER_VERSION "0.1.0"
#ifndef RUNNER_TARGET
#error "build.py defines RUNNER_TARGET"
#endif

#endif
