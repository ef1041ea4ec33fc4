/* The stand-in's log: lines to the callback of the newest log, errors also when a level is low. */
#ifndef STANDIN_LOG_H
#define STANDIN_LOG_H

#include "qnn_abi.h"

void log_to(qnn_log_callback callback, uint32_t level);
void log_set_level(uint32_t level);
void log_line(uint32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Logs every line of the behaviour's log_file, once: at the first create, or before a call that goes wrong. */
void log_file_lines(void);

/* Writes the behaviour's noise to stdout, once. */
void make_noise(void);

#endif
