/* The table of formats, and what all formats share: columns, order of cells, the file. */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"

static const cli_table_format *const formats[] = {&table_csv,   &table_tsv, &table_json,
                                                  &table_jsonl, &table_npy, &table_npz};
enum { FORMATS = sizeof formats / sizeof *formats };

static const cli_table_format *find_format(const char *ending)
{
    for (int i = 0; i < FORMATS; i++)
        if (!strcasecmp(ending, formats[i]->ending)) return formats[i];
    return NULL;
}

int cli_table_choose(const cli_options *options, const cli_table_format **format)
{
    const char *path = options->output, *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    const char *ending = name && *name ? strrchr(name + 1, '.') : NULL; /* a leading dot hides the file */
    const char *given = options->answer.format;
    *format = given ? find_format(given) : ending ? find_format(ending + 1) : &table_csv;
    const bool array = *format == &table_npy || *format == &table_npz;
    if (given && (!*format || array))
        return cli_usage_error(options->command, "--format is '%s': expected csv, tsv, json or jsonl", given);
    if (*format) return 0;
    return cli_usage_error(options->command,
                           "%s: the format '%s' is not known; use .csv, .tsv, .json, .jsonl, .npy, .npz, or no ending "
                           "for CSV",
                           path, ending);
}

int cli_table_open(const cli_table_format *format, const char *path, int64_t rows, cli_table **out)
{
    cli_table *t = cli_alloc("the table", 1, 1, sizeof *t);
    if (!t) return CLI_FAILED;
    t->format = format;
    t->rows = rows;
    const int code = cli_output_open(&t->output, path);
    if (code)
        cli_table_free(t);
    else
        *out = t;
    return code;
}

int cli_table_add(cli_table *t, const cli_table_column *column)
{
    if (t->count == TABLE_COLUMNS) return cli_error("a table has at most %d columns; keep fewer", TABLE_COLUMNS);
    char *name = strdup(column->name);
    if (!name) return cli_error("out of memory");
    t->columns[t->count] = *column;
    t->columns[t->count].name = t->names[t->count] = name;
    t->count++;
    return 0;
}

static void put_cell(cli_table *t, const cli_cell *cell)
{
    if (t->done == 0 && t->column == 0 && t->part == 0 && t->format->begin) t->format->begin(t);
    t->format->cell(t, cell);
    if (++t->part < t->columns[t->column].parts) return;
    t->part = 0;
    if (++t->column < t->count) return;
    t->column = 0;
    t->done++;
    if (t->format->end_row) t->format->end_row(t);
}

void cli_table_text(cli_table *t, const char *text)
{
    put_cell(t, &(cli_cell){.text = text});
}

void cli_table_integer(cli_table *t, int64_t value)
{
    put_cell(t, &(cli_cell){.integer = value});
}

void cli_table_real(cli_table *t, double value)
{
    put_cell(t, &(cli_cell){.real = value});
}

int cli_table_flush(cli_table *t)
{
    if (t->out_of_memory)
        return cli_error("%s: out of memory for %lld rows; use .csv or .jsonl, which are written row by row",
                         t->output.name, (long long)t->rows);
    return cli_output_flush(&t->output);
}

int cli_table_close(cli_table *t)
{
    int code = t->format->end ? t->format->end(t) : 0;
    if (!code) code = cli_table_flush(t);
    if (!code) code = cli_output_close(&t->output);
    return code;
}

void cli_table_free(cli_table *t)
{
    if (!t) return;
    cli_output_abandon(&t->output);
    for (int i = 0; i < t->count; i++) {
        free(t->names[i]);
        free(t->values[i].bytes);
    }
    free(t);
}
