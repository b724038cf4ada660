/* From the embedding to labels and probabilities, as ONNX nodes.
 *
 * The logarithm of the similarity to a class is the log-sum-exp over its references, whose largest
 * term is factored out. Distant classes therefore do not underflow in single precision. */
#include <string.h>

#include "compute/similarity.h"
#include "predict/export/onnx/onnx.h"

enum { MAX_BROADCAST = 16 };              /* outputs up to which differences (batch, r, h) are computed */
static const float NO_REFERENCE = -1e30F; /* logarithm of the similarity to a class without references */

/* (batch, r) squared distances. */
static eh_value distances(const eh_export *e, eh_graph *g, eh_value y)
{
    const int64_t r = e->model->r, h = e->model->shape.h;
    const eh_value G = eh_graph_floats(g, e->G, r, h);
    if (h <= MAX_BROADCAST) {
        const eh_value difference = eh_graph_2(g, "Sub", eh_graph_axis(g, "Unsqueeze", y, 1), G);
        return eh_graph_reduce(g, "ReduceSum", eh_graph_2(g, "Mul", difference, difference), 2, false);
    }
    /* |y|^2 - 2 y g + |g|^2, in double precision because of cancellation */
    const eh_value Y = eh_graph_cast(g, y, EH_ONNX_DOUBLE);
    const eh_value D = eh_graph_cast(g, G, EH_ONNX_DOUBLE);
    const eh_value yy = eh_graph_reduce(g, "ReduceSum", eh_graph_2(g, "Mul", Y, Y), 1, true);
    const eh_value gg = eh_graph_reduce(g, "ReduceSum", eh_graph_2(g, "Mul", D, D), 1, false);
    eh_graph_attribute_ints(g, "perm", (const int64_t[]){1, 0}, 2);
    const eh_value yg = eh_graph_2(g, "MatMul", Y, eh_graph_1(g, "Transpose", D));
    const eh_value minus = eh_graph_2(g, "Mul", yg, eh_graph_double(g, -2));
    const eh_value d = eh_graph_2(g, "Add", eh_graph_2(g, "Add", minus, gg), yy);
    return eh_graph_cast(g, eh_graph_2(g, "Max", d, eh_graph_double(g, 0)), EH_ONNX_FLOAT);
}

/* (batch, r) logarithms of the similarity at squared distances d. */
static eh_value log_similarities(const eh_export *e, eh_graph *g, eh_value d)
{
    if (e->model->gaussian) return eh_graph_1(g, "Neg", d);
    const eh_student s = eh_student_of(e->model->dof);
    if (e->model->dof > 1) d = eh_graph_2(g, "Mul", d, eh_graph_float(g, (float)s.inverse));
    const eh_value log = eh_graph_1(g, "Log", eh_graph_2(g, "Add", d, eh_graph_float(g, 1)));
    return eh_graph_2(g, "Mul", log, eh_graph_float(g, (float)-s.power));
}

/* The references of each class as a table (c, max): indices, and NO_REFERENCE where a class has
 * fewer. */
typedef struct groups {
    int64_t *index;
    float *mask;
    int64_t max;
    bool even; /* no entry is masked */
} groups;

static void groups_free(groups *t)
{
    eh_free(t->index);
    eh_free(t->mask);
}

static enhope_status groups_create(enhope_context *ctx, const enhope_model *m, groups *t)
{
    enhope_status status;
    int64_t *count = NULL;
    *t = (groups){.max = 1, .even = true};
    EH_CHECK(eh_new(ctx, "classes", m->c, sizeof *count, (void **)&count));
    for (int64_t j = 0; j < m->r; j++) t->max = eh_max(t->max, ++count[m->reference_label[j]]);
    int64_t all;
    if (!eh_mul(m->c, t->max, &all)) EH_CHECK(eh_fail_memory(ctx, "classes", (size_t)m->c, (size_t)t->max));
    EH_CHECK(eh_new(ctx, "classes", all, sizeof *t->index, (void **)&t->index));
    EH_CHECK(eh_new(ctx, "classes", all, sizeof *t->mask, (void **)&t->mask));
    for (int32_t k = 0; k < m->c; k++)
        for (int64_t i = count[k]; i < t->max; i++) {
            t->mask[k * t->max + i] = NO_REFERENCE;
            t->even = false;
        }
    memset(count, 0, (size_t)m->c * sizeof *count);
    for (int64_t j = 0; j < m->r; j++) t->index[m->reference_label[j] * t->max + count[m->reference_label[j]]++] = j;
cleanup:
    eh_free(count);
    return status;
}

/* (batch, c) logarithms of the summed similarity of each class. */
static enhope_status class_logs(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value d, eh_value *out)
{
    const int32_t c = e->model->c;
    groups t;
    const enhope_status status = groups_create(ctx, e->model, &t);
    if (!status) {
        const eh_value index = eh_graph_ints(g, t.index, c, t.max), L = log_similarities(e, g, d);
        eh_graph_attribute(g, "axis", 1);
        eh_value each = eh_graph_2(g, "Gather", L, index); /* (batch, c, max) */
        if (!t.even) each = eh_graph_2(g, "Add", each, eh_graph_floats(g, t.mask, c, t.max));
        const eh_value top = eh_graph_reduce(g, "ReduceMax", each, 2, true);
        const eh_value term = eh_graph_1(g, "Exp", eh_graph_2(g, "Sub", each, top));
        const eh_value sum = eh_graph_1(g, "Log", eh_graph_reduce(g, "ReduceSum", term, 2, true));
        *out = eh_graph_axis(g, "Squeeze", eh_graph_2(g, "Add", sum, top), 2);
    }
    groups_free(&t);
    return status;
}

/* The votes of the k nearest references: (batch, c) counts, and the scores that decide. Of equal
 * votes, those of the class with the nearest reference count: a bonus below 1 that falls with the
 * rank. */
static enhope_status votes(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value d, eh_value *count,
                           eh_value *class)
{
    const enhope_model *m = e->model;
    const int64_t max = eh_max(eh_max(m->r, m->c), e->k);
    enhope_status status;
    int64_t *number = NULL;
    float *bonus = NULL;
    EH_CHECK(eh_new(ctx, "classes", max, sizeof *number, (void **)&number));
    EH_CHECK(eh_new(ctx, "neighbors", e->k, sizeof *bonus, (void **)&bonus));
    for (int64_t j = 0; j < m->r; j++) number[j] = m->reference_label[j];
    const eh_value labels = eh_graph_ints(g, number, 0, m->r);
    for (int32_t k = 0; k < m->c; k++) number[k] = k;
    const eh_value classes = eh_graph_ints(g, number, 0, m->c);
    for (int32_t i = 0; i < e->k; i++) bonus[i] = 1.0F / (float)(i + 2);
    const eh_value k = eh_graph_ints(g, (const int64_t[]){e->k}, 0, 1);
    eh_graph_attribute(g, "axis", 1);
    eh_graph_attribute(g, "largest", 0);
    const eh_value nearest = eh_graph_node_second(g, "TopK", 2, (eh_value[]){d, k}); /* (batch, k) */
    const eh_value voted = eh_graph_axis(g, "Unsqueeze", eh_graph_2(g, "Gather", labels, nearest), 2);
    const eh_value vote = eh_graph_cast(g, eh_graph_2(g, "Equal", voted, classes), EH_ONNX_FLOAT); /* (batch, k, c) */
    const eh_value weighted = eh_graph_2(g, "Mul", vote, eh_graph_floats(g, bonus, e->k, 1));
    *count = eh_graph_reduce(g, "ReduceSum", vote, 1, false);
    *class = eh_graph_2(g, "Add", *count, eh_graph_reduce(g, "ReduceMax", weighted, 1, false));
cleanup:
    eh_free(number);
    eh_free(bonus);
    return status;
}

/* Whether all names of classes are whole numbers as eh_number_print writes them. */
static bool whole_numbers(const enhope_model *m, int64_t *number)
{
    for (int32_t k = 0; k < m->c; k++) {
        char text[40];
        double value;
        const char *name = m->class_name[k];
        if (eh_number_parse(name, strlen(name), &value) != EH_NUMBER || value < -1e15 || value > 1e15) return false;
        number[k] = (int64_t)value;
        eh_number_print((double)number[k], text, sizeof text);
        if (strcmp(text, name)) return false;
    }
    return true;
}

/* The output "label": whole numbers if all classes are named by such, else names. */
static enhope_status add_label(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value score)
{
    const enhope_model *m = e->model;
    int64_t *number = NULL;
    EH_TRY(eh_new(ctx, "classes", m->c, sizeof *number, (void **)&number));
    const bool numbers = whole_numbers(m, number);
    eh_graph_attribute(g, "axis", 1);
    eh_graph_attribute(g, "keepdims", 0);
    const eh_value class = eh_graph_1(g, "ArgMax", score);
    const eh_value names = numbers ? eh_graph_ints(g, number, 0, m->c) : eh_graph_strings(g, m->class_name, m->c);
    g->result = "label";
    eh_graph_2(g, "Gather", names, class);
    eh_graph_output(g, "label", numbers ? EH_ONNX_INT64 : EH_ONNX_STRING, 0);
    eh_free(number);
    return ENHOPE_OK;
}

enhope_status eh_onnx_classify(enhope_context *ctx, const eh_export *e, eh_graph *g, eh_value y)
{
    const enhope_model *m = e->model;
    const eh_value d = distances(e, g, y);
    eh_value score = 0, count = 0, proba, logs;
    if (e->votes || !m->exemplars) EH_TRY(votes(ctx, e, g, d, &count, &score));
    if (m->exemplars) {
        EH_TRY(class_logs(ctx, e, g, d, &logs));
        if (m->errors.temperature != 1)
            logs = eh_graph_2(g, "Mul", logs, eh_graph_float(g, (float)(1 / m->errors.temperature)));
        eh_graph_attribute(g, "axis", 1);
        g->result = "probabilities";
        proba = eh_graph_1(g, "Softmax", logs);
    } else {
        const eh_value k = eh_graph_float(g, (float)e->k);
        g->result = "probabilities";
        proba = eh_graph_2(g, "Div", count, k);
    }
    EH_TRY(add_label(ctx, e, g, e->votes ? score : proba));
    eh_graph_output(g, "probabilities", EH_ONNX_FLOAT, m->c);
    eh_graph_output(g, "embedding", EH_ONNX_FLOAT, m->shape.h);
    return ENHOPE_OK;
}
