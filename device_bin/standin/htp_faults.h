/* The faults that standin.conf asks for. */
#ifndef STANDIN_FAULTS_H
#define STANDIN_FAULTS_H

#include "htp_behaviour.h"
#include "qnn_abi.h"

/* Called at the begin of every call of a kind: may crash, hang, or give the error to return. */
qnn_error fault(enum fault_stage stage);

void sleep_ms(uint64_t milliseconds);

#endif
