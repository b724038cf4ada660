/* Names of classes from a file, for formats whose labels are numbers.
 *
 * The file has one name per line, of the classes 0, 1, ..., or NUMBER,NAME in every line, in which
 * a first line without a number is a header and NAME may be quoted. */
#include <stdio.h>
#include <string.h>

#include "data/read/read.h"

typedef struct names {
    const char *path;
    char **line; /* (n) lines of the file, later the names; the last ones are not empty */
    int64_t n, capacity;
    eh_labels number; /* the class of each name, in the order of the lines */
    int64_t first;    /* 1: the first line is a header */
} names;

/* ---- the lines ---- */

static enhope_status add_line(enhope_context *ctx, names *list, const char *text, size_t length)
{
    while (length && strchr(" \t\r", text[length - 1])) length--;
    while (length && strchr(" \t", *text)) text++, length--;
    if (list->n == list->capacity) {
        const int64_t capacity = 2 * list->capacity + 64;
        char **grown = eh_grow(list->line, (size_t)list->n, (size_t)capacity, sizeof *grown);
        if (!grown) return eh_fail_memory(ctx, "class names", (size_t)capacity, sizeof *grown);
        list->line = grown;
        list->capacity = capacity;
    }
    char *copy = NULL;
    EH_TRY(eh_new(ctx, "a class name", (int64_t)length + 1, 1, (void **)&copy));
    memcpy(copy, text, length);
    list->line[list->n++] = copy;
    return ENHOPE_OK;
}

static enhope_status read_lines(enhope_context *ctx, names *list)
{
    eh_text text = {.buffer = NULL};
    enhope_status status;
    EH_CHECK(eh_text_open(ctx, list->path, &text));
    for (;;) {
        const char *line = text.buffer + text.at, *newline = memchr(line, '\n', text.used - text.at);
        if (!newline && !text.end) {
            EH_CHECK(eh_text_more(ctx, &text));
            continue;
        }
        if (text.at == text.used) break;
        const size_t length = newline ? (size_t)(newline - line) : text.used - text.at;
        EH_CHECK(add_line(ctx, list, line, length));
        text.at += length + (newline != NULL);
    }
    while (list->n > 0 && !*list->line[list->n - 1]) eh_free(list->line[--list->n]);
cleanup:
    eh_text_close(&text);
    return status;
}

/* ---- numbers and names ---- */

/* The length of the number in "NUMBER,NAME"; 0: another line. */
static size_t number_length(const char *line)
{
    const size_t sign = *line == '-', digits = strspn(line + sign, "0123456789");
    return digits && line[sign + digits] == ',' ? sign + digits : 0;
}

static bool is_numbered(const names *list)
{
    for (int64_t i = 1; i < list->n; i++)
        if (!number_length(list->line[i])) return false;
    return list->n > 0 && strchr(list->line[0], ',') && (list->n > 1 || number_length(list->line[0]));
}

/* Removes the quotes around a name, in place. */
static void unquote(char *name)
{
    const size_t length = strlen(name);
    if (length < 2 || *name != '"' || name[length - 1] != '"') return;
    char *to = name;
    for (const char *at = name + 1; at < name + length - 1; at++) {
        *to++ = *at;
        if (*at == '"' && at[1] == '"') at++;
    }
    *to = '\0';
}

/* Divides line i into the number of its class and its name. */
static enhope_status divide(enhope_context *ctx, names *list, int64_t i, bool numbered)
{
    char *line = list->line[i], digits[32];
    size_t length = numbered ? number_length(line) : 0;
    int32_t id;
    if (numbered) {
        EH_TRY(eh_labels_class(ctx, &list->number, line, length, &id));
        if (id != i - list->first)
            return eh_fail(ctx, ENHOPE_ERROR_DATA, "the class %.*s occurs twice", (int)length, line);
        const size_t skip = length + 1 + strspn(line + length + 1, " \t");
        memmove(line, line + skip, strlen(line + skip) + 1);
        unquote(line);
    } else {
        length = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)i);
        EH_TRY(eh_labels_class(ctx, &list->number, digits, length, &id));
    }
    if (!*line) return eh_fail(ctx, ENHOPE_ERROR_DATA, "the name is empty");
    return ENHOPE_OK;
}

static enhope_status check_names(enhope_context *ctx, names *list)
{
    const bool numbered = is_numbered(list);
    eh_labels known = {.id = NULL};
    enhope_status status = ENHOPE_OK;
    list->first = numbered && !number_length(list->line[0]);
    for (int64_t i = list->first; i < list->n && !status; i++) {
        int32_t id = 0;
        status = divide(ctx, list, i, numbered);
        if (!status) status = eh_labels_class(ctx, &known, list->line[i], strlen(list->line[i]), &id);
        if (!status && id != i - list->first)
            status = eh_fail(ctx, ENHOPE_ERROR_DATA, "the name '%.60s' occurs twice", list->line[i]);
        if (status) status = eh_fail_in(ctx, status, "%s:%lld", list->path, (long long)i + 1);
    }
    eh_labels_free(&known);
    return status;
}

static enhope_status name_class(enhope_context *ctx, const names *list, char **name)
{
    const int32_t id = eh_labels_find(&list->number, *name, strlen(*name));
    char *copy = NULL;
    if (id < 0)
        return eh_fail(
            ctx, ENHOPE_ERROR_DATA,
            "%s: has %lld name%s but none for the class '%.60s': expected a name in each line, for the classes "
            "0, 1, ..., or lines NUMBER,NAME",
            list->path, (long long)(list->n - list->first), list->n - list->first == 1 ? "" : "s", *name);
    EH_TRY(eh_new_text(ctx, "a class name", list->line[id + list->first], &copy));
    eh_free(*name);
    *name = copy;
    return ENHOPE_OK;
}

enhope_status eh_class_names_read(enhope_context *ctx, const char *path, enhope_dataset *data)
{
    names list = {.path = path};
    enhope_status status;
    EH_CHECK(read_lines(ctx, &list));
    EH_CHECK(check_names(ctx, &list));
    for (int32_t k = 0; k < data->c; k++) EH_CHECK(name_class(ctx, &list, &data->class_name[k]));
cleanup:
    eh_names_free(list.line, list.n);
    eh_labels_free(&list.number);
    return status;
}
