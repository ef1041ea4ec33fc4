#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "dma_buffers.h"
#include "exits.h"
#include "files.h"
#include "proc_text.h"
#include "report.h"
#include "text.h"

enum { KILOBYTE = 1024 };

bool ledger_open(struct ledger *ledger, const char *path, struct failure *failure) {
    ledger->path = path;
    ledger->descriptor = -1;
    ledger->error = 0;
    if (path[0] == '\0') {
        return true;
    }
    ledger->start_ns = now_ns();
    ledger->descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0644);
    if (ledger->descriptor < 0) {
        return fail_errno(failure, EXIT_WRITE, "open", "memory ledger %.300s", path);
    }
    return true;
}

static void add(struct text *line, const char *name, bool known, uint64_t bytes) {
    text_add(line, ",\"%s\":", name);
    text_add_known(line, known, bytes, "null");
}

static void add_from(struct text *line, const char *name, const char *text, const char *key) {
    uint64_t bytes = 0;
    bool known = proc_value(text, key, KILOBYTE, &bytes);
    add(line, name, known, bytes);
}

static void add_memory(struct text *line) {
    char text[8192];
    uint64_t bytes = 0;
    read_small_file("/proc/self/status", text, sizeof(text));
    add_from(line, "rss_bytes", text, "VmRSS:");
    add_from(line, "peak_rss_bytes", text, "VmHWM:");
    read_small_file("/proc/self/smaps_rollup", text, sizeof(text));
    add_from(line, "pss_bytes", text, "Pss:");
    add_from(line, "private_dirty_bytes", text, "Private_Dirty:");
    bool known = dma_buffers_held(&bytes);
    add(line, "dma_buf_bytes", known, bytes);
    known = dma_buffers_mapped(&bytes);
    add(line, "dma_buf_mapped_bytes", known, bytes);
    read_small_file("/proc/meminfo", text, sizeof(text));
    add_from(line, "system_free_bytes", text, "MemFree:");
    add_from(line, "system_available_bytes", text, "MemAvailable:");
}

void ledger_write(struct ledger *ledger, const char *checkpoint, uint64_t cycle) {
    char buffer[1024];
    if (ledger->descriptor < 0) {
        return;
    }
    uint64_t milliseconds = (now_ns() - ledger->start_ns) / 1000000;
    struct text line = text_in(buffer, sizeof(buffer));
    text_add(&line, "{\"checkpoint\":\"%s\",\"cycle\":", checkpoint);
    text_add_known(&line, cycle > 0, cycle, "null");
    text_add(&line, ",\"seconds\":%llu.%03llu", (unsigned long long)(milliseconds / 1000),
             (unsigned long long)(milliseconds % 1000));
    add_memory(&line);
    text_add(&line, "}\n");
    if (!write_all(ledger->descriptor, buffer, line.length) && ledger->error == 0) {
        ledger->error = errno;
    }
}

bool ledger_close(struct ledger *ledger, struct failure *failure) {
    if (ledger->descriptor < 0) {
        return true;
    }
    if (close(ledger->descriptor) != 0 && ledger->error == 0) {
        ledger->error = errno;
    }
    ledger->descriptor = -1;
    errno = ledger->error;
    return ledger->error == 0 ||
           fail_errno(failure, EXIT_WRITE, "write", "memory ledger %.300s", ledger->path);
}
