#include "htp_faults.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "htp_log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t calls[FAULT_STAGE_COUNT];

void sleep_ms(uint64_t milliseconds) {
    struct timespec left = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
    if (milliseconds > 0) {
        nanosleep(&left, NULL);
    }
}

static void crash(int number) {
    if (number == CRASH_BY_EXIT) {
        _exit(0);
    }
    signal(number, SIG_DFL);
    kill(getpid(), number);
    for (;;) {
        pause(); /* the signal may be taken by another thread */
    }
}

qnn_error fault(enum fault_stage stage) {
    const struct behaviour *b = behaviour();
    pthread_mutex_lock(&lock);
    uint64_t call = ++calls[stage];
    pthread_mutex_unlock(&lock);
    bool crashes = b->crash == stage && call == b->crash_at, hangs = b->hang == stage && call == b->hang_at;
    bool fails = b->fail == stage && call == b->fail_at;
    if (crashes || hangs || fails) {
        log_file_lines(); /* what a library says before it goes wrong */
    }
    if (crashes) {
        crash(b->crash_signal);
    }
    if (hangs) {
        for (;;) {
            pause();
        }
    }
    if (fails) {
        log_line(QNN_LOG_ERROR, "stand-in: failing with %llu as standin.conf says", (unsigned long long)b->fail_code);
        return b->fail_code;
    }
    return QNN_OK;
}
