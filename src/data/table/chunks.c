/* A table whose text arrives in chunks: rows are available as soon as their line is complete. A
 * model determines the columns, so that the first line is enough to find them. */
#include "data/table/table.h"

enhope_status eh_table_open_chunks(enhope_context *ctx, const eh_input *in, eh_table *t)
{
    *t = (eh_table){.in = in, .schema = {.label = EH_LABEL_NONE}};
    EH_TRY(eh_table_rules_parse(ctx, in->table, &t->rules));
    return eh_csv_open_chunks(ctx, in->path, t->rules.delimiter, &t->csv);
}

enhope_status eh_table_find_columns(enhope_context *ctx, eh_table *t, bool *known)
{
    eh_csv *csv = &t->csv;
    *known = t->schema.columns > 0;
    while (!*known && eh_csv_ready(csv)) {
        EH_TRY(eh_csv_next(ctx, csv, &t->found));
        if (!t->found) return ENHOPE_OK;
        if (csv->damaged) { /* the next line may be better */
            EH_TRY(eh_problems_line(ctx, &t->problems, csv));
            if (!t->rules.skip_bad) return eh_problems_fail(ctx, &t->problems, eh_csv_name(csv));
            t->skipped++;
            t->records++;
            continue;
        }
        if (csv->json) {
            t->rules.header = csv->objects;
            t->rules.decimal = '.';
        }
        t->problems.first_line = csv->line;
        EH_TRY(eh_schema_match(ctx, t->in, &t->rules, csv, &t->schema, &t->source));
        EH_TRY(eh_problems_resize(ctx, &t->problems, t->schema.columns));
        EH_TRY(eh_table_open_frame(ctx, t));
        t->found = !t->schema.header;
        *known = true;
    }
    return ENHOPE_OK;
}

enhope_status eh_table_next_chunks(enhope_context *ctx, eh_table *t, int64_t rows, bool *bad)
{
    eh_csv *csv = &t->csv;
    *bad = false;
    eh_labels_free(&t->labels); /* an endless text has no end of names */
    EH_TRY(eh_table_begin_rows(ctx, t, rows));
    while (t->frame.n < rows && !*bad) {
        bool used;
        if (!t->found && eh_csv_ready(csv)) EH_TRY(eh_csv_next(ctx, csv, &t->found));
        if (!t->found) break;
        t->found = false;
        EH_TRY(eh_table_store(ctx, t, &used));
        t->frame.n += used;
        t->rows += used;
        t->records++;
        *bad = eh_problems_any(&t->problems) && !t->rules.skip_bad;
    }
    eh_table_end_rows(t);
    return ENHOPE_OK;
}
