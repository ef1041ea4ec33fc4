/* Fuzzes the reader of standin.conf. */
#include <stdlib.h>
#include <string.h>

#include "htp_behaviour.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct behaviour behaviour;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    behaviour_defaults(&behaviour);
    bool good = behaviour_parse(&behaviour, text);
    if (good != (behaviour.problem[0] == '\0')) {
        abort();
    }
    free(text);
    return 0;
}
