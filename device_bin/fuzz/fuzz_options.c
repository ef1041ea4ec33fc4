/* Fuzzes the runner's flag parser: the input is an argv, its words separated by NUL. */
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { MAX_WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *words[MAX_WORDS + 1] = {"heapprof_runner"};
    struct options options;
    char problem[512];
    int count = 1;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t at = 0; at < size && count < MAX_WORDS; at += strlen(text + at) + 1) {
        words[count++] = text + at;
    }
    bool good = parse_options(count, words, &options, problem, sizeof(problem));
    if (!good && problem[0] == '\0') {
        abort(); /* a refusal without a reason */
    }
    if (good && !options.help && !options.version && options.models.count == 0) {
        abort();
    }
    free_options(&options);
    free(text);
    return 0;
}
