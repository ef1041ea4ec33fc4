#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exits.h"
#include "files.h"
#include "measure.h"
#include "report.h"
#include "say.h"
#include "status.h"

enum {
    SIGNAL_RECORD = 128,  /* sizeof(struct signalfd_siginfo), whose first word is the signal's number */
    KILL_WAIT_MS = 5000,  /* a process stuck in a DSP call may not even die from SIGKILL */
};

/* Why the watching ended. */
enum outcome { CHILD_ENDED, TIME_OVER, TOLD_TO_STOP };

struct supervisor {
    const struct options *options;
    struct status status;
    pid_t child;
    int messages, signals;
    int stop_signal;
    char *line; /* a message under way: REPORT_LIMIT bytes */
    size_t line_length;
    bool line_too_long;
};

static void take_byte(struct supervisor *self, char byte) {
    if (byte != '\n') {
        self->line_too_long = self->line_too_long || self->line_length + 1 >= REPORT_LIMIT;
        if (!self->line_too_long) {
            self->line[self->line_length++] = byte;
        }
        return;
    }
    self->line[self->line_length] = '\0';
    if (!self->line_too_long) {
        status_take(&self->status, self->line);
    }
    self->line_length = 0;
    self->line_too_long = false;
}

/* Reads what is there; true when at least one byte was. The pipe doesn't block. */
static bool read_messages(struct supervisor *self) {
    char buffer[4096];
    bool some = false;
    for (;;) {
        ssize_t count = read(self->messages, buffer, sizeof(buffer));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return some;
        }
        some = true;
        for (ssize_t i = 0; i < count; i++) {
            take_byte(self, buffer[i]);
        }
    }
}

/* Takes all pending signals; notes one that tells us to stop. */
static void read_signals(struct supervisor *self) {
    unsigned char record[SIGNAL_RECORD];
    while (read(self->signals, record, sizeof(record)) == SIGNAL_RECORD) {
        uint32_t number = 0;
        memcpy(&number, record, sizeof(number));
        if (number != SIGCHLD && self->stop_signal == 0) {
            self->stop_signal = (int)number;
        }
    }
}

/* Milliseconds until `deadline` (0: none, -1 for poll). */
static int poll_time(uint64_t deadline) {
    if (deadline == 0) {
        return -1;
    }
    uint64_t now = now_ns();
    uint64_t left = deadline > now ? (deadline - now) / 1000000 + 1 : 0;
    return left > 3600000 ? 3600000 : (int)left;
}

/* The child's wait status once it is gone; false while it lives. */
static bool reap(struct supervisor *self, int *wait_status) {
    pid_t pid = waitpid(self->child, wait_status, WNOHANG);
    return pid == self->child || (pid < 0 && errno == ECHILD);
}

static enum outcome watch(struct supervisor *self, uint64_t deadline, int *wait_status) {
    struct pollfd watched[2] = {{self->messages, POLLIN, 0}, {self->signals, POLLIN, 0}};
    for (;;) {
        if (reap(self, wait_status)) {
            read_signals(self);
            return self->stop_signal != 0 ? TOLD_TO_STOP : CHILD_ENDED;
        }
        int ready = poll(watched, 2, poll_time(deadline));
        if (ready < 0 && errno != EINTR) {
            return TOLD_TO_STOP; /* can't happen; better an ended run than an unwatched one */
        }
        read_signals(self);
        if (self->stop_signal != 0) {
            return TOLD_TO_STOP;
        }
        if (read_messages(self)) {
            status_write(&self->status, false);
        } else if ((watched[0].revents & POLLHUP) != 0) {
            watched[0].fd = -1; /* the child closed its end: only its death is left to wait for */
        }
        if (deadline != 0 && now_ns() >= deadline) {
            return TIME_OVER;
        }
    }
}

/* Kills the child and waits for its death, but not for ever. */
static void end_child(struct supervisor *self) {
    uint64_t deadline = now_ns() + (uint64_t)KILL_WAIT_MS * 1000000u;
    int ignored = 0;
    kill(self->child, SIGKILL);
    while (!reap(self, &ignored)) {
        struct pollfd watched = {self->signals, POLLIN, 0};
        poll(&watched, 1, poll_time(deadline));
        read_signals(self);
        if (now_ns() >= deadline) {
            say("warning: process %d doesn't die; it hangs in the kernel", (int)self->child);
            return;
        }
    }
}

static int conclude(struct supervisor *self, const char *state, int code, const char *what) {
    self->status.state = state;
    self->status.exit_code = code;
    if (what != NULL) {
        int stage = self->status.stage;
        say("error: stage=%s code=0 call=-: %s", stage >= 0 ? stage_names[stage] : "load", what);
        status_set_error(&self->status, what);
    }
    return code;
}

static int judge_end(struct supervisor *self, int wait_status) {
    char what[160];
    if (WIFSIGNALED(wait_status)) {
        int number = WTERMSIG(wait_status);
        const char *name = signal_name(number);
        self->status.signal = number;
        snprintf(what, sizeof(what), "the process was ended by signal %d%s%s%s", number, name != NULL ? " (" : "",
                 name != NULL ? name : "", name != NULL ? ")" : "");
        return conclude(self, "crashed", EXIT_CRASHED, what);
    }
    int code = WEXITSTATUS(wait_status);
    if (self->status.ended && self->status.exit_code == code) {
        return conclude(self, code == EXIT_OK ? "done" : "failed", code, NULL);
    }
    /* Libraries that call exit() would otherwise pass for a finished measurement. */
    snprintf(what, sizeof(what), "the process was ended from within, with exit code %d", code);
    return conclude(self, "crashed", EXIT_CRASHED, what);
}

static int judge(struct supervisor *self, enum outcome outcome, int wait_status) {
    char what[96];
    if (outcome == CHILD_ENDED) {
        return judge_end(self, wait_status);
    }
    end_child(self);
    read_messages(self);
    if (outcome == TIME_OVER) {
        unsigned long long limit = self->options->time_limit_ms;
        snprintf(what, sizeof(what), "the time limit of %llu.%03llu s is over", limit / 1000, limit % 1000);
        return conclude(self, "timed_out", EXIT_TIME_LIMIT, what);
    }
    snprintf(what, sizeof(what), "the runner was told to stop (signal %d)", self->stop_signal);
    return conclude(self, "stopped", EXIT_STOPPED, what);
}

static _Noreturn void become_child(const struct options *options, int pipe_end, const sigset_t *mask, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) {
        _exit(EXIT_STOPPED); /* the parent died before the line above */
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    report_open(pipe_end);
    /* No exit handlers: vendor libraries crash in theirs, after everything is said and done. */
    _exit(measure(options));
}

static void block_signals(sigset_t *blocked, sigset_t *before) {
    static const int wanted[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD};
    sigemptyset(blocked);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        sigaddset(blocked, wanted[i]);
    }
    sigprocmask(SIG_BLOCK, blocked, before);
    /* A closed stderr (the host is gone) must not end the run in mid-air. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

/* Files of an earlier run must not pass for this one's. */
static void remove_stale(const struct options *options) {
    const char *paths[] = {options->heap_path, options->series_path, options->ledger_path, options->status_path};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i][0] != '\0') {
            unlink(paths[i]);
            remove_leftover(paths[i]);
        }
    }
}

static int run(struct supervisor *self, uint64_t deadline) {
    int wait_status = 0;
    bool writable = status_write(&self->status, false);
    if (!writable) {
        say("error: stage=write code=0 call=status: status file %.300s can't be written: %s",
            self->options->status_path, strerror(errno));
        kill(self->child, SIGKILL);
        waitpid(self->child, &wait_status, 0);
        return EXIT_WRITE;
    }
    enum outcome outcome = watch(self, deadline, &wait_status);
    read_messages(self);
    int code = judge(self, outcome, wait_status);
    if (self->options->heap_path[0] != '\0') {
        remove_leftover(self->options->heap_path);
    }
    if (!status_write(&self->status, true)) {
        say("warning: the status file can't be written: %s", strerror(errno));
        return code == EXIT_OK ? EXIT_WRITE : code;
    }
    return code;
}

static int internal(const char *call) {
    say("error: stage=load code=0 call=%s: %s", call, strerror(errno));
    return EXIT_INTERNAL;
}

int supervise(const struct options *options) {
    struct supervisor self;
    sigset_t blocked, before;
    int ends[2];
    uint64_t deadline = options->time_limit_ms > 0 ? now_ns() + options->time_limit_ms * 1000000u : 0;
    memset(&self, 0, sizeof(self));
    self.options = options;
    status_init(&self.status, options);
    remove_stale(options);
    block_signals(&blocked, &before);
    self.signals = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    self.line = malloc(REPORT_LIMIT);
    if (self.line == NULL || self.signals < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return internal("pipe2");
    }
    pid_t parent = getpid();
    self.child = fork();
    if (self.child < 0) {
        return internal("fork");
    }
    if (self.child == 0) {
        close(ends[0]);
        close(self.signals);
        become_child(options, ends[1], &before, parent);
    }
    self.status.process = self.child;
    close(ends[1]);
    self.messages = ends[0];
    fcntl(self.messages, F_SETFL, O_NONBLOCK);
    int code = run(&self, deadline);
    status_free(&self.status);
    free(self.line);
    return code;
}
