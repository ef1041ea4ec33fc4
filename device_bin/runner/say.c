#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

void say(const char *format, ...) {
    static const char prefix[] = "heapprof_runner: ";
    char line[4096];
    const size_t start = sizeof(prefix) - 1;
    memcpy(line, prefix, start);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + start, sizeof(line) - start - 1, format, arguments);
    va_end(arguments);
    make_printable(line);
    size_t length = strlen(line);
    line[length] = '\n';
    /* Nobody is left to tell when stderr can't be written. */
    ssize_t ignored = write(STDERR_FILENO, line, length + 1);
    (void)ignored;
}
