#include "input_list.h"

#include <stdlib.h>
#include <string.h>

#include "exits.h"
#include "files.h"

static bool refuse(const struct input_list *list, size_t number, struct failure *failure, const char *what,
                   const char *detail) {
    failure->exit_code = failure->set ? failure->exit_code : EXIT_INPUT;
    return fail(failure, 0, "input_list", "%.300s line %zu: %s%.300s", list->path, number, what, detail);
}

static bool add_file(struct input_list *list, struct input_line *line, char *word, struct failure *failure) {
    struct input_file *files = realloc(line->files, (line->count + 1) * sizeof(*files));
    if (files == NULL) {
        return refuse(list, line->number, failure, "out of memory", "");
    }
    line->files = files;
    struct input_file *file = &files[line->count++];
    file->name = NULL;
    file->path = word;
    char *mark = strstr(word, ":=");
    if (mark != NULL) {
        *mark = '\0';
        file->name = word;
        file->path = mark + 2;
        if (file->name[0] == '\0' || file->path[0] == '\0') {
            return refuse(list, line->number, failure, "name or path is empty in a name:=path", "");
        }
    }
    if ((file->name == NULL) != (files[0].name == NULL)) {
        return refuse(list, line->number, failure, "names and plain paths are mixed", "");
    }
    return true;
}

static bool add_line(struct input_list *list, char *text, size_t number, struct failure *failure) {
    struct input_line line = {NULL, 0, number};
    char *at = text;
    bool good = true;
    while (good) {
        at += strspn(at, " \t\r");
        if (*at == '\0') {
            break;
        }
        char *word = at;
        at += strcspn(at, " \t\r");
        if (*at != '\0') {
            *at++ = '\0';
        }
        good = add_file(list, &line, word, failure);
    }
    if (!good || line.count == 0) {
        free(line.files);
        return good;
    }
    struct input_line *lines = realloc(list->lines, (list->count + 1) * sizeof(*lines));
    if (lines == NULL) {
        free(line.files);
        return refuse(list, number, failure, "out of memory", "");
    }
    list->lines = lines;
    list->lines[list->count++] = line;
    return true;
}

bool input_list_parse(struct input_list *list, const char *path, const char *data, size_t size,
                      struct failure *failure) {
    memset(list, 0, sizeof(*list));
    list->path = path;
    list->text = malloc(size + 1);
    if (list->text == NULL) {
        return refuse(list, 0, failure, "out of memory", "");
    }
    if (size > 0) {
        memcpy(list->text, data, size);
    }
    list->text[size] = '\0';
    if (size > 0 && memchr(data, '\0', size) != NULL) {
        return refuse(list, 0, failure, "it holds NUL bytes: it is no text file", "");
    }
    char *at = list->text;
    for (size_t number = 1; at != NULL; number++) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        if (!add_line(list, at, number, failure)) {
            return false;
        }
        at = end;
    }
    return list->count > 0 || refuse(list, 1, failure, "the list is empty", "");
}

bool input_list_read(struct input_list *list, const char *path, struct failure *failure) {
    struct map map;
    memset(list, 0, sizeof(*list));
    if (!map_file(path, &map)) {
        return fail_errno(failure, EXIT_INPUT, "open", "input list %.300s can't be read", path);
    }
    bool good = input_list_parse(list, path, (const char *)map.data, map.size, failure);
    unmap_file(&map);
    return good;
}

void input_list_free(struct input_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->lines[i].files);
    }
    free(list->lines);
    free(list->text);
    memset(list, 0, sizeof(*list));
}

static bool load_tensor(const struct input_list *list, const struct input_line *line, const char *path,
                        qnn_tensor *tensor, struct failure *failure) {
    struct map map;
    if (!map_file(path, &map)) {
        return fail_errno(failure, EXIT_INPUT, "open", "%.300s line %zu: input %.300s can't be read", list->path,
                          line->number, path);
    }
    if (map.size != tensor->buffer.size) {
        failure->exit_code = EXIT_INPUT;
        fail(failure, 0, "input_list", "%.300s line %zu: tensor '%.200s' expects %u bytes, %.300s has %zu",
             list->path, line->number, tensor->name, tensor->buffer.size, path, map.size);
        unmap_file(&map);
        return false;
    }
    memcpy(tensor->buffer.data, map.data, map.size);
    unmap_file(&map);
    return true;
}

static const char *path_for(const struct input_line *line, const struct tensors *inputs, uint32_t index) {
    if (line->files[0].name == NULL) {
        return line->files[index].path;
    }
    for (size_t i = 0; i < line->count; i++) {
        if (strcmp(line->files[i].name, inputs->items[index].name) == 0) {
            return line->files[i].path;
        }
    }
    return NULL;
}

bool input_line_load(const struct input_list *list, const struct input_line *line, struct tensors *inputs,
                     struct failure *failure) {
    if (line->count != inputs->count) {
        failure->exit_code = EXIT_INPUT;
        return fail(failure, 0, "input_list", "%.300s line %zu: it names %zu files, the graph has %u inputs",
                    list->path, line->number, line->count, inputs->count);
    }
    for (uint32_t i = 0; i < inputs->count; i++) {
        const char *path = path_for(line, inputs, i);
        if (path == NULL) {
            return refuse(list, line->number, failure, "no file is named for input ", inputs->items[i].name);
        }
        if (!load_tensor(list, line, path, &inputs->items[i], failure)) {
            return false;
        }
    }
    return true;
}
