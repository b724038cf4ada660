/* The plug-in libenhope_mat.so: reads MATLAB 5 files through libmatio; mat.h describes its
 * interface. */
#include "data/mat/mat.h"

#include <matio.h>
#include <stdio.h>

enum { MAX_SIDE = 1 << 30 };

/* Replaces the log function of libmatio, which prints to standard error. The text is const in newer
 * versions. */
__attribute__((unused)) static void ignore(int level, char *message)
{
    (void)level;
    (void)message;
}

__attribute__((unused)) static void ignore_const(int level, const char *message)
{
    (void)level;
    (void)message;
}

#define IGNORE \
    _Generic(&Mat_LogInitFunc, int (*)(const char *, void (*)(int, const char *)) : ignore_const, default : ignore)

static void *open_file(const char *path)
{
    Mat_LogInitFunc("enhope", IGNORE);
    return Mat_Open(path, MAT_ACC_RDONLY);
}

static void close_file(void *file)
{
    Mat_Close(file);
}

/* ---- variables ---- */

/* Computes the product of the sides; false if a side is too long or the product overflows. */
static bool measure(const matvar_t *info, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < info->rank; i++)
        if (info->dims[i] > MAX_SIDE || __builtin_mul_overflow(*count, (int64_t)info->dims[i], count)) return false;
    return true;
}

static bool describe(const matvar_t *info, eh_mat_variable *v)
{
    *v = (eh_mat_variable){.rank = info->rank, .side = {1, 1, 1}};
    if (!info->name || !info->dims || info->rank < 2 || info->rank > 3) return false;
    if (snprintf(v->name, sizeof v->name, "%s", info->name) >= (int)sizeof v->name) return false;
    if (!measure(info, &v->count)) return false;
    for (int i = 0; i < info->rank; i++) v->side[i] = (int64_t)info->dims[i];
    v->sparse = info->class_type == MAT_C_SPARSE;
    v->numeric = v->sparse || (info->class_type >= MAT_C_DOUBLE && info->class_type <= MAT_C_UINT64);
    v->cell = info->class_type == MAT_C_CELL;
    return (v->numeric || v->cell) && v->count > 0 && !(v->sparse && v->rank != 2);
}

static eh_mat_result next_variable(void *file, eh_mat_variable *v)
{
    matvar_t *info = Mat_VarReadNextInfo(file);
    if (!info) return EH_MAT_END;
    const bool usable = describe(info, v);
    Mat_VarFree(info);
    return usable ? EH_MAT_OK : EH_MAT_UNUSABLE;
}

/* ---- values ---- */

static void set_number_type(enum matio_types type, eh_mat_values *out)
{
    static const struct {
        enum matio_types type;
        char kind;
        int size;
    } known[] = {{MAT_T_DOUBLE, 'f', 8}, {MAT_T_SINGLE, 'f', 4}, {MAT_T_INT8, 'i', 1},  {MAT_T_UINT8, 'u', 1},
                 {MAT_T_INT16, 'i', 2},  {MAT_T_UINT16, 'u', 2}, {MAT_T_INT32, 'i', 4}, {MAT_T_UINT32, 'u', 4},
                 {MAT_T_INT64, 'i', 8},  {MAT_T_UINT64, 'u', 8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type) {
            out->kind = known[i].kind;
            out->size = known[i].size;
        }
}

/* True if the values match their description. */
static bool copy_values(const matvar_t *var, const eh_mat_variable *v, eh_mat_values *out)
{
    int64_t count;
    if (!var->data || var->rank != v->rank || !measure(var, &count) || count != v->count) return false;
    if (v->cell) return var->class_type == MAT_C_CELL && var->nbytes >= (size_t)count * sizeof(matvar_t *);
    set_number_type(var->data_type, out);
    if (!out->kind) return false;
    if (!v->sparse) {
        out->data = var->data;
        return var->nbytes >= (size_t)count * (size_t)out->size;
    }
    const mat_sparse_t *s = var->data;
    out->row = s->ir;
    out->start = s->jc;
    out->data = s->data;
    out->row_count = s->nir;
    out->start_count = s->njc;
    out->value_count = s->ndata;
    return true;
}

static eh_mat_result read_variable(void *file, const eh_mat_variable *v, eh_mat_values *out)
{
    *out = (eh_mat_values){0};
    matvar_t *var = Mat_VarRead(file, v->name);
    if (!var) return EH_MAT_DAMAGED;
    const bool complex = var->isComplex, ok = !complex && copy_values(var, v, out);
    if (ok) {
        out->owner = var;
        return EH_MAT_OK;
    }
    Mat_VarFree(var);
    *out = (eh_mat_values){0};
    return complex ? EH_MAT_COMPLEX : EH_MAT_DAMAGED;
}

static bool read_text(const eh_mat_values *values, int64_t i, eh_mat_text *out)
{
    const matvar_t *cell = ((matvar_t **)((matvar_t *)values->owner)->data)[i];
    if (!cell || cell->class_type != MAT_C_CHAR || !cell->data || cell->rank != 2) return false;
    const bool wide = cell->data_type == MAT_T_UINT16 || cell->data_type == MAT_T_UTF16;
    *out = (eh_mat_text){cell->data, cell->nbytes / (wide ? 2 : 1), wide};
    return true;
}

static void free_values(eh_mat_values *values)
{
    Mat_VarFree(values->owner);
    *values = (eh_mat_values){0};
}

__attribute__((visibility("default"))) const eh_mat_ops *eh_mat_table(size_t table_size);

const eh_mat_ops *eh_mat_table(size_t table_size)
{
    static const eh_mat_ops table = {open_file, close_file, next_variable, read_variable, read_text, free_values};
    return table_size == sizeof table ? &table : NULL;
}
