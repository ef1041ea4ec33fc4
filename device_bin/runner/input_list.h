/* ExecuTorch's input lists: one line an inference, files separated by spaces, each plain or
 * "name:=path"; all of a line's files are of the same kind. */
#ifndef HEAPPROF_INPUT_LIST_H
#define HEAPPROF_INPUT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "failure.h"
#include "tensors.h"

struct input_file {
    const char *name; /* NULL: by position */
    const char *path;
};

struct input_line {
    struct input_file *files;
    size_t count;
    size_t number; /* 1-based line in the file */
};

struct input_list {
    const char *path; /* of the list itself, for messages */
    char *text;       /* owns all names and paths */
    struct input_line *lines;
    size_t count;
};

/* Parses `size` bytes. False with the reason in `failure`; input_list_free is right in both cases. */
bool input_list_parse(struct input_list *list, const char *path, const char *data, size_t size,
                      struct failure *failure);
bool input_list_read(struct input_list *list, const char *path, struct failure *failure);
void input_list_free(struct input_list *list);

/* Reads a line's files into the inputs' buffers; sizes must match exactly. */
bool input_line_load(const struct input_list *list, const struct input_line *line, struct tensors *inputs,
                     struct failure *failure);

#endif
