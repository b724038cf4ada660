/* What a setting applies to: the properties of a run, and a scope against them. */
#include "method/scope.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what auto stands for ---- */

bool eh_settings_gaussian(const enhope_settings *s, const eh_method *method)
{
    return s->objective.similarity == EH_SIMILARITY_AUTO ? method->gaussian
                                                         : s->objective.similarity == EH_SIMILARITY_GAUSSIAN;
}

bool eh_settings_row(const enhope_settings *s, const eh_method *method)
{
    if (s->objective.normalizer == EH_NORMALIZER_AUTO) return method->row || method->compared == EH_EXEMPLARS;
    return s->objective.normalizer == EH_NORMALIZER_PUBLISHED ? method->row
                                                              : s->objective.normalizer == EH_NORMALIZER_ROW;
}

bool eh_settings_nca(const enhope_settings *s, const eh_method *method)
{
    return s->objective.target == EH_TARGET_AUTO ? method->nca : s->objective.target == EH_TARGET_NCA;
}

/* ---- properties ---- */

static int properties_of_method(const eh_method *m)
{
    const bool steps = eh_method_learns(m), neighbours = steps && !m->hinge;
    return (m->map == &eh_map_hope ? EH_FOR_HOPE : 0) | (m->map == &eh_map_mlp ? EH_FOR_MLP : 0) |
           (m->map == &eh_map_linear ? EH_FOR_LINEAR : 0) | (m->compared != EH_NOTHING ? EH_FOR_TRAINED : 0) |
           (steps ? EH_FOR_STEPS : 0) | (m->compared == EH_EXEMPLARS ? EH_FOR_EXEMPLARS : 0) |
           (neighbours ? EH_FOR_NEIGHBOURS : 0) | (neighbours && !m->input_target && !m->graph ? EH_FOR_CLASSES : 0) |
           (m->hinge ? EH_FOR_LMNN : 0) | (m->input_target ? EH_FOR_PT_SNE : 0) | (m->graph ? EH_FOR_GRAPH : 0) |
           (m->solve == EH_SOLVE_LPP ? EH_FOR_LPP : 0) | (m->solve == EH_SOLVE_MCML ? EH_FOR_MCML : 0);
}

static int properties_of_run(const enhope_settings *s)
{
    static const int solver[] = {
        [EH_SOLVER_CG] = EH_WITH_CG, [EH_SOLVER_LBFGS] = EH_WITH_LBFGS, [EH_SOLVER_ADAM] = EH_WITH_ADAM};
    const eh_method *method = eh_method_find(s->method);
    return properties_of_method(method) | solver[s->optim.solver] | EH_WITH_IMAGES |
           (eh_settings_gaussian(s, method) ? 0 : EH_WITH_STUDENT) |
           (eh_settings_row(s, method) ? EH_WITH_ROW : EH_WITH_JOINT) |
           (eh_settings_nca(s, method) ? 0 : EH_WITH_MCML_TARGET);
}

/* Alternatives; a run that has none of them is described by `otherwise`. */
static const struct kind {
    int bits;
    const char *text, *otherwise;
} kinds[] = {
    {EH_FOR_MAPS, NULL, NULL},
    {EH_METHODS, NULL, NULL},
    {EH_SOLVERS, NULL, NULL},
    {EH_WITH_STUDENT, "student similarity", "the gaussian similarity"},
    {EH_WITH_JOINT, "joint normalizer", "the row normalizer"},
    {EH_WITH_ROW, "row normalizer", "the joint normalizer"},
    {EH_WITH_MCML_TARGET, "mcml target", "the nca target"},
    {EH_WITH_IMAGES, "images", NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The first kind of which a scope names bits and `has` has none; NULL: there is none. */
static const struct kind *first_missing(int scope, int has)
{
    for (int i = 0; i < KINDS; i++)
        if ((scope & kinds[i].bits) && !(scope & kinds[i].bits & has)) return &kinds[i];
    return NULL;
}

bool eh_scope_applies(int scope, const enhope_settings *s)
{
    return !first_missing(scope, properties_of_run(s));
}

uint64_t eh_scope_methods(int scope)
{
    uint64_t methods = 0;
    for (int i = 0; i < enhope_method_count(); i++)
        if (!first_missing(scope & (EH_FOR_MAPS | EH_METHODS), properties_of_method(eh_method_get(i))))
            methods |= UINT64_C(1) << i;
    return methods;
}

/* ---- texts ---- */

typedef struct text {
    char *buffer;
    size_t size, used;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(t->buffer + t->used, t->size - t->used, format, args);
    va_end(args);
    if (length > 0) t->used = t->used + (size_t)length < t->size ? t->used + (size_t)length : t->size - 1;
}

/* "a, b and c" */
static void add_list(text *t, const char *const *item, int count, const char *last)
{
    for (int i = 0; i < count; i++) add(t, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : last, item[i]);
}

static void add_names(text *t, uint64_t methods)
{
    const char *name[64];
    int count = 0;
    for (int i = 0; i < enhope_method_count(); i++)
        if (methods >> i & 1) name[count++] = enhope_method_get(i)->name;
    add_list(t, name, count, " and ");
}

/* A set of methods: one that has a name, such a one but for a few, or a list. */
static void add_methods(text *t, uint64_t methods)
{
    static const struct {
        int scope;
        const char *name;
    } sets[] = {
        {EH_FOR_ALL, "all methods"}, {EH_FOR_STEPS, "gradient methods"}, {EH_FOR_EXEMPLARS, "exemplar methods"}};
    enum { SETS = sizeof sets / sizeof *sets, FEW = 5 };
    for (int missing = 0; missing <= FEW; missing++)
        for (int i = 0; i < SETS; i++) {
            const uint64_t set = eh_scope_methods(sets[i].scope);
            if ((methods & ~set) || __builtin_popcountll(set & ~methods) != missing) continue;
            if (missing >= __builtin_popcountll(methods)) continue; /* a list is shorter */
            add(t, "%s%s", sets[i].name, missing ? " except " : "");
            add_names(t, set & ~methods);
            return;
        }
    add_names(t, methods);
}

static void add_some(text *t, int scope, const int *bit, const char *const *name, int count, const char *last)
{
    const char *item[3];
    int items = 0;
    for (int i = 0; i < count; i++)
        if (scope & bit[i]) item[items++] = name[i];
    add_list(t, item, items, last);
}

void eh_scope_text(int scope, char *buffer, size_t size)
{
    static const int map[] = {EH_FOR_HOPE, EH_FOR_MLP, EH_FOR_LINEAR},
                     solver[] = {EH_WITH_CG, EH_WITH_LBFGS, EH_WITH_ADAM};
    static const char *const map_name[] = {"hope", "mlp", "linear"}, *const solver_name[] = {"cg", "lbfgs", "adam"};
    text t = {buffer, size, 0};
    const int maps = scope & EH_FOR_MAPS;
    add_some(&t, scope, map, map_name, 3, " and ");
    if (maps) add(&t, maps & (maps - 1) ? " maps" : " map");
    if ((scope & EH_METHODS) || !maps) {
        if (maps) add(&t, "; ");
        add_methods(&t, eh_scope_methods(scope & EH_METHODS));
    }
    if (scope & EH_SOLVERS) add(&t, "; solver ");
    add_some(&t, scope, solver, solver_name, 3, " or ");
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].text && (scope & kinds[i].bits)) add(&t, "; %s", kinds[i].text);
}

enhope_status eh_scope_refuse(enhope_context *ctx, int scope, const enhope_settings *s, const char *name)
{
    static const char *const solver[] = {[EH_SOLVER_CG] = "cg", [EH_SOLVER_LBFGS] = "lbfgs", [EH_SOLVER_ADAM] = "adam"};
    const struct kind *missing = first_missing(scope, properties_of_run(s));
    const eh_method *method = eh_method_find(s->method);
    char to[128], to_what[160];
    if (missing->otherwise)
        snprintf(to, sizeof to, "%s", missing->otherwise);
    else if (missing->bits == EH_SOLVERS)
        snprintf(to, sizeof to, "solver %s", solver[s->optim.solver]);
    else
        snprintf(to, sizeof to, "method %s%s", s->method,
                 method->compared == EH_NOTHING ? ", which is not trained"
                 : method->solve                ? ", which is solved in one step"
                                                : "");
    eh_scope_text(scope, to_what, sizeof to_what);
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s does not apply to %s (it applies to: %s); leave it out", name, to,
                   to_what);
}
