/* The runs that a setting applies to, as bits. Help texts, the Python tables and the errors for
 * settings that do not apply are generated from them. */
#ifndef EH_SCOPE_H
#define EH_SCOPE_H

#include "method/method.h"

/* One bit for each property of a run. The bits of one kind (maps, methods, solvers, each value
 * below) are alternatives. A setting applies to a run if the run has at least one of its bits of
 * each kind that its scope contains. */
enum {
    EH_FOR_ALL = 0,
    /* maps */
    EH_FOR_HOPE = 1 << 0,
    EH_FOR_MLP = 1 << 1,
    EH_FOR_LINEAR = 1 << 2,
    EH_FOR_MAPS = EH_FOR_HOPE | EH_FOR_MLP | EH_FOR_LINEAR,
    /* methods */
    EH_FOR_TRAINED = 1 << 3,    /* all but knn */
    EH_FOR_STEPS = 1 << 4,      /* gradient methods */
    EH_FOR_EXEMPLARS = 1 << 5,  /* exemplar methods */
    EH_FOR_NEIGHBOURS = 1 << 6, /* gradient methods with a neighbor objective */
    EH_FOR_CLASSES = 1 << 7,    /* of these, methods with a class target */
    EH_FOR_LMNN = 1 << 8,
    EH_FOR_PT_SNE = 1 << 9,
    EH_FOR_LPP = 1 << 10,
    EH_FOR_MCML = 1 << 11,
    EH_FOR_GRAPH = 1 << 20, /* gradient methods on a neighbor graph */
    EH_METHODS = EH_FOR_TRAINED | EH_FOR_STEPS | EH_FOR_EXEMPLARS | EH_FOR_NEIGHBOURS | EH_FOR_CLASSES | EH_FOR_LMNN |
                 EH_FOR_PT_SNE | EH_FOR_LPP | EH_FOR_MCML | EH_FOR_GRAPH,
    /* solvers */
    EH_WITH_CG = 1 << 12,
    EH_WITH_LBFGS = 1 << 13,
    EH_WITH_ADAM = 1 << 14,
    EH_SOLVERS = EH_WITH_CG | EH_WITH_LBFGS | EH_WITH_ADAM,
    /* values of other settings */
    EH_WITH_STUDENT = 1 << 15,
    EH_WITH_JOINT = 1 << 16,
    EH_WITH_MCML_TARGET = 1 << 17,
    EH_WITH_ROW = 1 << 21,
    /* data; checked when training starts */
    EH_WITH_IMAGES = 1 << 18,
    /* not a property of a run: an update keeps the value of the model */
    EH_FIXED = 1 << 19
};

/* The methods that a scope applies to with suitable values of the other settings: bit i is method i
 * of the table. */
uint64_t eh_scope_methods(int scope);
/* "hope map", "gradient methods except lmnn; student similarity", ... */
void eh_scope_text(int scope, char *buffer, size_t size);
/* Whether a setting of this scope has an effect in a run with these settings. */
bool eh_scope_applies(int scope, const enhope_settings *s);
/* The error for a setting that does not apply. */
enhope_status eh_scope_refuse(enhope_context *ctx, int scope, const enhope_settings *s, const char *name);

#endif
