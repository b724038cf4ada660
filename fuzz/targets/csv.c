/* CSV and TSV files: columns, types, header and label are detected or named, and the same file is
 * read like itself, streamed, converted and as the labels of other inputs.
 *
 * Input: a byte of choices; a line of options, KEY=VALUE|...; the file. */
#include "fuzz.h"

static const char *const keys[] = {"label", "header", "delimiter", "decimal",     "ignore",  "id",      "group",
                                   "keep",  "weight", "numeric",   "categorical", "missing", "classes", "split"};

/* Where the value of a key is stored; NULL: unknown. */
static const char **field_of(const char *key, enhope_source *source, enhope_table_options *table)
{
    const char **const fields[] = {&source->label,   &table->header,  &table->delimiter,   &table->decimal,
                                   &table->ignore,   &table->id,      &table->group,       &table->keep,
                                   &table->weight,   &table->numeric, &table->categorical, &table->missing,
                                   &source->classes, &source->split};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i])) return fields[i];
    return NULL;
}

static void parse_options(char *line, enhope_source *source, enhope_table_options *table)
{
    for (char *next; line; line = next) {
        next = strchr(line, '|');
        if (next) *next++ = '\0';
        char *value = strchr(line, '=');
        if (value) *value++ = '\0';
        const char **field = value ? field_of(line, source, table) : NULL;
        if (field) *field = field == &source->classes ? fuzz_file("classes", value, strlen(value)) : value;
        if (!strcmp(line, "skip")) table->skip_bad = 1;
        if (!strcmp(line, "optional")) table->label_optional = 1;
    }
}

/* A file that is read with the columns of itself has the same rows. */
static void read_like(const enhope_source *source)
{
    enhope_dataset *data = fuzz_read(source);
    if (!data) return;
    enhope_table_options table = *source->table;
    enhope_source again = *source;
    table.like = data;
    again.table = &table;
    enhope_dataset *same = fuzz_read(&again);
    if (same) fuzz_check_same(data, same);
    enhope_dataset_free(same);
    enhope_dataset_free(data);
}

FUZZ_TARGET(csv)
{
    static const char *const names[] = {"a.csv", "a.tsv", "a.txt", "a.unknown"};
    const int choice = fuzz_byte(in);
    enhope_table_options table = {.header = NULL};
    enhope_source source = {.table = &table};
    parse_options(fuzz_line(in), &source, &table);
    const char *name = names[choice & 3];
    source.path = choice & 4 ? fuzz_gzip("a.csv.gz", in->at, in->left) : fuzz_file(name, in->at, in->left);
    if (choice & 8) { /* the labels of other inputs */
        const char *x = fuzz_file("x.csv", "1,2\n3,4\n5,6\n", 12);
        char *pair = fuzz_alloc(strlen(x) + strlen(source.path) + 2);
        sprintf(pair, "%s,%s", x, source.path);
        source.path = pair;
        source.label = NULL;
    }
    if (choice & 16 && fuzz_one_of(FUZZ_WAYS)) read_like(&source);
    const int how = choice >> 5;
    fuzz_read_all(&source, table.weight ? how & ~FUZZ_CONVERT : how); /* shards have no weights */
}
