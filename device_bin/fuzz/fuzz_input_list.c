/* Fuzzes the parser of input lists, then looks every parsed word up and reads it. */
#include <stdlib.h>
#include <string.h>

#include "input_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input_list list;
    struct failure failure;
    memset(&failure, 0, sizeof(failure));
    bool good = input_list_parse(&list, "list.txt", (const char *)data, size, &failure);
    if (good == failure.set) {
        abort(); /* a refusal without a reason, or a reason without a refusal */
    }
    size_t letters = 0;
    for (size_t i = 0; i < list.count; i++) {
        for (size_t j = 0; j < list.lines[i].count; j++) {
            const struct input_file *file = &list.lines[i].files[j];
            letters += strlen(file->path) + (file->name != NULL ? strlen(file->name) : 0);
        }
    }
    if (letters > size) {
        abort();
    }
    input_list_free(&list);
    return 0;
}
