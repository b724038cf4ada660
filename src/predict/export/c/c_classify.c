/* Classification in C: the vote of the k nearest references, or the logarithms of the similarity to
 * each class. The nearest reference of a class is factored out of its sum, so that nothing
 * underflows:
 *
 *   gaussian  log S = -d0 + log(sum of exp(d0 - d))
 *   student   log S = -p log(1 + d0/nu) + log(sum of ((nu + d0)/(nu + d))^p) */
#include "compute/similarity.h"
#include "predict/export/c/c.h"

static const char distance[] = "/* The squared distance of y to a reference. */\n"
                               "static float @_distance(const float *y, const float *g)\n"
                               "{\n"
                               "    float sum = 0;\n"
                               "    for (long i = 0; i < @_OUTPUTS; i++) sum += (y[i] - g[i]) * (y[i] - g[i]);\n"
                               "    return sum;\n"
                               "}\n\n";

static const char similarities_begin[] =
    "/* log_sum (c): logarithm of the summed similarity of y to the references of each class; -1e30 for\n"
    " * a class without references. */\n"
    "static void @_similarities(const float *y, float *log_sum)\n"
    "{\n"
    "    float nearest[@_CLASSES];\n"
    "    for (long k = 0; k < @_CLASSES; k++) nearest[k] = -1, log_sum[k] = 0;\n"
    "    for (long j = 0; j < @_REFERENCES; j++) {\n"
    "        const float d = @_distance(y, @_G + j * @_OUTPUTS);\n"
    "        const long k = @_label[j];\n"
    "        if (nearest[k] < 0 || d < nearest[k]) nearest[k] = d;\n"
    "    }\n"
    "    for (long j = 0; j < @_REFERENCES; j++) {\n"
    "        const float d = @_distance(y, @_G + j * @_OUTPUTS);\n"
    "        const long k = @_label[j];\n";

static const char proba[] =
    "/* p (c): the probabilities; returns the class of the largest. */\n"
    "static int @_most_probable(const float *y, float *p)\n"
    "{\n"
    "    long best = 0;\n"
    "    float top, all = 0;\n"
    "    @_similarities(y, p);\n"
    "    for (long k = 1; k < @_CLASSES; k++)\n"
    "        if (p[k] > p[best]) best = k;\n"
    "    top = p[best];\n"
    "    for (long k = 0; k < @_CLASSES; k++) all += p[k] = p[k] < -1e29f ? 0 : @_exp((p[k] - top) * ";

static const char proba_end[] = ");\n"
                                "    if (!(all - all == 0)) return -1;\n"
                                "    for (long k = 0; k < @_CLASSES; k++) p[k] /= all;\n"
                                "    return (int)best;\n"
                                "}\n\n";

/* The k nearest references in order; of equal distances the earlier one comes first. */
static const char vote[] =
    "/* The class of most of the %d nearest references; of equal votes that of the nearest one. */\n"
    "static int @_vote(const float *y, float *p)\n"
    "{\n"
    "    float d[%d];\n"
    "    %s label[%d];\n"
    "    int count = 0, most = 0, best = 0;\n"
    "    for (long j = 0; j < @_REFERENCES; j++) {\n"
    "        const float at = @_distance(y, @_G + j * @_OUTPUTS);\n"
    "        int i;\n"
    "        if (count == %d && !(at < d[count - 1])) continue;\n"
    "        i = count < %d ? count++ : count - 1;\n"
    "        for (; i > 0 && d[i - 1] > at; i--) d[i] = d[i - 1], label[i] = label[i - 1];\n"
    "        d[i] = at, label[i] = @_label[j];\n"
    "    }\n"
    "    for (int i = 0; i < count; i++) {\n"
    "        int votes = 0;\n"
    "        for (int j = 0; j < count; j++) votes += label[j] == label[i];\n"
    "        if (votes > most) most = votes, best = label[i];\n"
    "    }\n"
    "    if (p) {\n"
    "        for (long k = 0; k < @_CLASSES; k++) p[k] = 0;\n"
    "        for (int i = 0; i < count; i++) p[label[i]] += 1;\n"
    "        for (long k = 0; k < @_CLASSES; k++) p[k] /= (float)count;\n"
    "    }\n"
    "    return best;\n"
    "}\n\n";

static const char *label_type(const eh_export *e)
{
    return e->model->c <= 256 ? "uint8_t" : e->model->c <= 65536 ? "uint16_t" : "int32_t";
}

static void put_references(const eh_export *e, eh_bytes *b)
{
    const enhope_model *m = e->model;
    eh_c_floats(b, "G", e->G, m->r * m->shape.h);
    eh_put(b, "static const %s @_label[%lld] = {", label_type(e), (long long)m->r);
    for (int64_t j = 0; j < m->r; j++) eh_put(b, j % 20 ? " %d," : "\n    %d,", m->reference_label[j]);
    eh_put_text(b, "\n};\n\n");
}

static void put_gaussian(eh_bytes *b)
{
    eh_put_text(b, "        log_sum[k] += @_exp(nearest[k] - d);\n"
                   "    }\n"
                   "    for (long k = 0; k < @_CLASSES; k++)\n"
                   "        log_sum[k] = nearest[k] < 0 ? -1e30f : @_log(log_sum[k]) - nearest[k];\n");
}

static void put_student(const eh_export *e, eh_bytes *b)
{
    const eh_student s = eh_student_of(e->model->dof);
    const int nu = e->model->dof ? e->model->dof : 1;
    eh_put(b,
           "        const float ratio = (%d + nearest[k]) / (%d + d);\n"
           "        float w = ratio;\n"
           "        for (int i = 1; i < %d; i++) w *= ratio;\n"
           "        log_sum[k] += w;\n"
           "    }\n"
           "    for (long k = 0; k < @_CLASSES; k++)\n"
           "        log_sum[k] = nearest[k] < 0 ? -1e30f : @_log(log_sum[k]) - %d * @_log(1 + nearest[k] / %d);\n",
           nu, nu, s.power, s.power, nu);
}

/* @_class calls the rule that decides the label; with votes among exemplars, probabilities still
 * are similarities. */
static void put_class(const eh_export *e, eh_bytes *b)
{
    eh_put_text(b, "static int @_class(const float *y, float *p)\n{\n");
    if (!e->model->exemplars) {
        eh_put_text(b, "    return @_vote(y, p);\n}\n\n");
    } else if (e->votes) {
        eh_put_text(b, "    if (p) @_most_probable(y, p);\n"
                       "    return @_vote(y, 0);\n}\n\n");
    } else {
        eh_put_text(b, "    float q[@_CLASSES];\n"
                       "    return @_most_probable(y, p ? p : q);\n}\n\n");
    }
}

void eh_c_classify(const eh_export *e, eh_bytes *b)
{
    put_references(e, b);
    eh_put_text(b, distance);
    if (e->model->exemplars) {
        eh_put_text(b, similarities_begin);
        if (e->model->gaussian)
            put_gaussian(b);
        else
            put_student(e, b);
        eh_put_text(b, "}\n\n");
        eh_put_text(b, proba);
        eh_c_float(b, (float)(1 / e->model->errors.temperature));
        eh_put_text(b, proba_end);
    }
    if (e->votes || !e->model->exemplars) eh_put(b, vote, e->k, e->k, label_type(e), e->k, e->k, e->k);
    put_class(e, b);
}

int64_t eh_c_classify_ram(const eh_export *e)
{
    const int64_t similar = e->model->exemplars ? 2 * e->model->c : 0;
    const int64_t voters = e->votes || !e->model->exemplars ? 2 * (int64_t)e->k : 0;
    return eh_max(similar, voters) * (int64_t)sizeof(float);
}
