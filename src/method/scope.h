/* What a setting applies to, as data: help texts, the tables of other languages and the refusal of a setting that does not
 * apply come from it. */
#ifndef EH_SCOPE_H
#define EH_SCOPE_H

#include "method/method.h"

/* One bit for each property of a run. The bits of a kind (maps, methods, solvers, each value below) are alternatives: a setting
 * applies to a run that has, of every kind that its scope names, one of the bits. */
enum {
    EH_FOR_ALL = 0,
    /* maps */
    EH_FOR_HOPE = 1 << 0,
    EH_FOR_MLP = 1 << 1,
    EH_FOR_LINEAR = 1 << 2,
    EH_FOR_MAPS = EH_FOR_HOPE | EH_FOR_MLP | EH_FOR_LINEAR,
    /* methods */
    EH_FOR_TRAINED = 1 << 3,    /* all but knn */
    EH_FOR_STEPS = 1 << 4,      /* learned in steps: the gradient methods */
    EH_FOR_EXEMPLARS = 1 << 5,  /* compare with exemplars */
    EH_FOR_NEIGHBOURS = 1 << 6, /* learned in steps by a neighbour objective */
    EH_FOR_CLASSES = 1 << 7,    /* of these, with a target by class */
    EH_FOR_LMNN = 1 << 8,
    EH_FOR_PT_SNE = 1 << 9,
    EH_FOR_LPP = 1 << 10,
    EH_FOR_MCML = 1 << 11,
    EH_METHODS = EH_FOR_TRAINED | EH_FOR_STEPS | EH_FOR_EXEMPLARS | EH_FOR_NEIGHBOURS | EH_FOR_CLASSES | EH_FOR_LMNN |
                 EH_FOR_PT_SNE | EH_FOR_LPP | EH_FOR_MCML,
    /* solvers */
    EH_WITH_CG = 1 << 12,
    EH_WITH_LBFGS = 1 << 13,
    EH_WITH_ADAM = 1 << 14,
    EH_SOLVERS = EH_WITH_CG | EH_WITH_LBFGS | EH_WITH_ADAM,
    /* values of other settings */
    EH_WITH_STUDENT = 1 << 15,
    EH_WITH_JOINT = 1 << 16,
    EH_WITH_MCML_TARGET = 1 << 17,
    EH_WITH_NEAREST = 1 << 18,
    /* data; training itself asks for it */
    EH_WITH_IMAGES = 1 << 19,
    /* not a property of a run: the setting is fixed by a model that training continues */
    EH_FIXED = 1 << 20
};

/* The methods of the table to which a scope applies with some values of the other settings: bit i is method i. */
uint64_t eh_scope_methods(int scope);
/* "hope map", "gradient methods but lmnn; student similarity", ... */
void eh_scope_text(int scope, char *buffer, size_t size);
/* Whether a setting of that scope has an effect in a run with these settings. */
bool eh_scope_applies(int scope, const enhope_settings *s);
/* The error of a setting that has none. */
enhope_status eh_scope_refuse(enhope_context *ctx, int scope, const enhope_settings *s, const char *name);

#endif
