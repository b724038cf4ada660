/* Tables as text: CSV, TSV, JSON and JSON lines. */
#include <math.h>
#include <string.h>

#include "table/table.h"

enum { NAME = 512 };

/* The name of a cell's column. */
static const char *cell_name(const cli_table *t, char buffer[NAME])
{
    const cli_table_column *column = &t->columns[t->column];
    if (!column->parts) return column->name;
    const char *format = column->part_format, *at = strstr(format, "%s");
    snprintf(buffer, NAME, "%.*s%s%s", (int)(at - format), format, column->part[t->part], at + 2);
    return buffer;
}

/* ---- CSV and TSV ---- */

static void put_separator(const cli_table *t, char separator)
{
    if (t->column || t->part) putc(separator, t->output.file);
}

static void begin_lines(cli_table *t, char separator)
{
    char buffer[NAME];
    for (t->column = 0; t->column < t->count; t->column++) {
        const int64_t parts = t->columns[t->column].parts;
        for (t->part = 0; t->part < (parts ? parts : 1); t->part++) {
            put_separator(t, separator);
            cli_put_csv(t->output.file, cell_name(t, buffer));
        }
    }
    t->column = 0;
    t->part = 0;
    putc('\n', t->output.file);
}

static void put_field(cli_table *t, const cli_cell *cell, char separator)
{
    const cli_table_column *column = &t->columns[t->column];
    put_separator(t, separator);
    switch (column->type) {
    case TABLE_TEXT:
        if (cell->text) cli_put_csv(t->output.file, cell->text);
        break;
    case TABLE_INTEGER: fprintf(t->output.file, "%lld", (long long)cell->integer); break;
    case TABLE_REAL: fprintf(t->output.file, "%.*g", column->digits, cell->real); break;
    }
}

static void end_line(cli_table *t)
{
    putc('\n', t->output.file);
}

static void csv_begin(cli_table *t)
{
    begin_lines(t, ',');
}

static void csv_cell(cli_table *t, const cli_cell *cell)
{
    put_field(t, cell, ',');
}

static void tsv_begin(cli_table *t)
{
    begin_lines(t, '\t');
}

static void tsv_cell(cli_table *t, const cli_cell *cell)
{
    put_field(t, cell, '\t');
}

const cli_table_format table_csv = {.ending = "csv", .begin = csv_begin, .cell = csv_cell, .end_row = end_line};
const cli_table_format table_tsv = {.ending = "tsv", .begin = tsv_begin, .cell = tsv_cell, .end_row = end_line};

/* ---- JSON ---- */

static void put_member(cli_table *t, const cli_cell *cell)
{
    const cli_table_column *column = &t->columns[t->column];
    FILE *out = t->output.file;
    char buffer[NAME];
    fputs(t->column || t->part ? ", " : "{", out);
    cli_json(out, "%s: ", cell_name(t, buffer));
    switch (column->type) {
    case TABLE_TEXT: cli_json(out, "%s", cell->text); break;
    case TABLE_INTEGER: fprintf(out, "%lld", (long long)cell->integer); break;
    case TABLE_REAL:
        if (isfinite(cell->real))
            fprintf(out, "%.*g", column->digits, cell->real);
        else
            fputs("null", out);
        break;
    }
}

static void json_cell(cli_table *t, const cli_cell *cell)
{
    if (!t->column && !t->part) fputs(t->done ? ",\n  " : "[\n  ", t->output.file);
    put_member(t, cell);
}

static void json_end_row(cli_table *t)
{
    putc('}', t->output.file);
}

static int json_end(cli_table *t)
{
    fputs(t->done ? "\n]\n" : "[]\n", t->output.file);
    return 0;
}

static void jsonl_end_row(cli_table *t)
{
    fputs("}\n", t->output.file);
}

const cli_table_format table_json = {.ending = "json", .cell = json_cell, .end_row = json_end_row, .end = json_end};
const cli_table_format table_jsonl = {.ending = "jsonl", .cell = put_member, .end_row = jsonl_end_row};
