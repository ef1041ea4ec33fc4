/* How the stand-in behaves: standin.conf in the folder of this library. README.md lists the keys. */
#ifndef STANDIN_BEHAVIOUR_H
#define STANDIN_BEHAVIOUR_H

#include <stdbool.h>
#include <stdint.h>

enum fault_stage {
    FAULT_NONE,
    FAULT_LOG,
    FAULT_BACKEND,
    FAULT_DEVICE,
    FAULT_PROFILE,
    FAULT_CREATE,
    FAULT_RETRIEVE,
    FAULT_EXECUTE,
    FAULT_FREE,
    FAULT_EVENTS,
    FAULT_POWER,
    FAULT_STAGE_COUNT,
};

enum noise_kind { NOISE_TEXT, NOISE_BINARY, NOISE_ANSI };

enum { CRASH_BY_EXIT = 0 }; /* the library calls _exit(0), as if all were well */

struct behaviour {
    uint64_t before, after; /* bytes */
    bool after_set;
    uint64_t leak, one_time; /* bytes a cycle; bytes in the first cycle */
    bool event_before, event_after, reversed;
    bool nested; /* all events but the first lie below the first */
    uint64_t repeat;
    enum fault_stage fail, crash, hang;
    uint64_t fail_at, crash_at, hang_at; /* which call of the kind, 1-based */
    uint64_t fail_code;
    int crash_signal; /* or CRASH_BY_EXIT */
    uint64_t create_delay_ms, execute_delay_ms;
    uint64_t noise_bytes;
    enum noise_kind noise;
    bool dsp_profiling;       /* false: option 4 is refused, as the x86 library does */
    uint64_t sdk_major, sdk_minor; /* 0: binaries of every SDK are taken */
    char build_id[128];
    char log_file[256]; /* beside standin.conf; "" = none */
    char chain[1024];   /* a real libQnnHtp.so to forward to; "" = none */
    char folder[1024];  /* of this library, with the slash at its end */
    char problem[256];  /* why standin.conf can't be used; "" = it can, or there is none */
};

/* Read once, at the first call. */
const struct behaviour *behaviour(void);

/* Parses the text of a standin.conf (it is changed by that); false with `problem` filled. */
bool behaviour_parse(struct behaviour *behaviour, char *text);
void behaviour_defaults(struct behaviour *behaviour);

#endif
