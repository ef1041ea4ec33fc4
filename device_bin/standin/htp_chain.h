/* The real library behind the stand-in (`chain =`): real contexts, simulated heap events. */
#ifndef STANDIN_CHAIN_H
#define STANDIN_CHAIN_H

#include "qnn_abi.h"

/* The chained library's interface; NULL when none is asked for or it can't be loaded (`problem`
 * then says why; it is "" when none is asked for). */
const qnn_interface *chain(void);
const char *chain_problem(void);

/* A function of its table, to be copied into a variable of the right type. */
#define CHAIN_FUNCTION(type, name, slot) \
    type name;                           \
    memcpy(&name, &chain()->table[slot], sizeof(name))

#endif
