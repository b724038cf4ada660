/* The table that a data set was read from: its columns, texts of kept columns, row numbers. */
#include <string.h>

#include "data/data.h"

void eh_origin_free(eh_origin *origin)
{
    if (!origin) return;
    eh_schema_free(&origin->schema);
    eh_kept_clear(&origin->kept);
    eh_free(origin);
}

int64_t enhope_dataset_text_count(const enhope_dataset *data)
{
    return data->origin ? data->origin->kept.columns : 0;
}

int64_t enhope_dataset_id_count(const enhope_dataset *data)
{
    const int64_t columns = enhope_dataset_text_count(data);
    int64_t ids = 0;
    if (columns && !data->origin->schema.columns) return columns; /* names of files, not columns of a table */
    while (ids < columns && data->origin->schema.column[data->origin->schema.kept[ids]].role == EH_ROLE_ID) ids++;
    return ids;
}

const char *enhope_dataset_text_name(const enhope_dataset *data, int64_t k)
{
    return k >= 0 && k < enhope_dataset_text_count(data) ? data->origin->kept.name[k] : NULL;
}

const char *enhope_dataset_text(const enhope_dataset *data, int64_t k, int64_t i)
{
    if (k < 0 || k >= enhope_dataset_text_count(data) || i < 0 || i >= data->origin->kept.n) return NULL;
    const eh_kept *kept = &data->origin->kept;
    return kept->text + kept->start[i * kept->columns + k];
}

int64_t enhope_dataset_source_row(const enhope_dataset *data, int64_t i)
{
    return data->origin && i >= 0 && i < data->origin->kept.n ? data->origin->kept.row[i] : data->first + i;
}

/* ---- columns ---- */

int64_t enhope_dataset_column_count(const enhope_dataset *data)
{
    return data->origin ? data->origin->schema.columns : 0;
}

/* The encoding of column j; NULL: it is no input, or a plain number. */
static const eh_encoded *find_encoded(const enhope_dataset *data, int64_t j)
{
    const eh_schema *s = &data->origin->schema;
    const eh_encoding *encoding = data->encoding;
    if (!encoding || s->column[j].role != EH_ROLE_INPUT) return NULL;
    if (!encoding->named) { /* the table may have names that the encoding does not have */
        int64_t k = 0;
        for (int64_t i = 0; i < j; i++) k += s->column[i].role == EH_ROLE_INPUT;
        return k < encoding->columns ? &encoding->column[k] : NULL;
    }
    for (int64_t k = 0; k < encoding->columns; k++)
        if (strcmp(encoding->column[k].name, s->column[j].name) == 0) return &encoding->column[k];
    return NULL;
}

enhope_status enhope_dataset_column(enhope_context *ctx, const enhope_dataset *data, int64_t j,
                                    enhope_table_column *info)
{
    static const char *const types[] = {"number", "boolean", "category", "date", "id", "empty"};
    static const char *const uses[] = {"input", "label", "id", "ignored"};
    if (j < 0 || j >= enhope_dataset_column_count(data))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "column %lld is outside the table: expected 0 to %lld", (long long)j,
                       (long long)enhope_dataset_column_count(data) - 1);
    const eh_column_schema *c = &data->origin->schema.column[j];
    const eh_encoded *e = find_encoded(data, j);
    const bool constant = e && e->inputs == 0;
    *info = (enhope_table_column){.name = c->name,
                                  .type = types[c->type],
                                  .use = constant ? "ignored" : uses[c->role],
                                  .reason = !constant         ? c->reason
                                            : c->distinct > 1 ? "every text occurs once"
                                                              : "the same value in all rows",
                                  .values = c->values,
                                  .missing = c->missing,
                                  .minimum = c->minimum,
                                  .maximum = c->maximum,
                                  .inputs = e ? e->inputs : c->role == EH_ROLE_INPUT,
                                  .categories = e ? e->categories : 0,
                                  .marked = e && e->indicator,
                                  .grouped = e && e->other};
    return ENHOPE_OK;
}

const char *enhope_dataset_category(const enhope_dataset *data, int64_t j, int32_t k)
{
    if (j < 0 || j >= enhope_dataset_column_count(data)) return NULL;
    const eh_encoded *e = find_encoded(data, j);
    return e && k >= 0 && k < e->categories ? e->category[k] : NULL;
}
