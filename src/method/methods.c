/* The table of methods: each is a choice of a map, a similarity, a normaliser, a target, what points are compared
 * with, and a solver. Training reads this table and nothing else about a method. */
#include <string.h>

#include "method/method.h"

static const eh_method methods[] = {
    {.info = {.name = "en-hope",
              .summary = "high-order map, points collapse onto a few exemplars (Min, Guo, Song 2017)",
              .map = "hope(F, m, O)",
              .similarity = "student",
              .normaliser = "joint",
              .target = "same class",
              .compared = "z exemplars",
              .solver = "cg"},
     .map = &eh_map_hope,
     .compared = EH_EXEMPLARS},
    {.info = {.name = "hope",
              .summary = "high-order map, every pair of a batch; classified against all training points",
              .map = "hope(F, m, O)",
              .similarity = "student",
              .normaliser = "joint",
              .target = "same class",
              .compared = "the batch itself",
              .solver = "cg"},
     .map = &eh_map_hope,
     .compared = EH_BATCH},
    {.info = {.name = "deep-en-hope",
              .summary = "deep map of sigmoid layers, points collapse onto a few exemplars",
              .map = "mlp(layers)",
              .similarity = "student",
              .normaliser = "joint",
              .target = "same class",
              .compared = "z exemplars",
              .solver = "cg"},
     .map = &eh_map_mlp,
     .compared = EH_EXEMPLARS},
    {.info = {.name = "dt-mcml",
              .summary = "deep map of sigmoid layers, every pair of a batch collapses by class (Min et al. 2010)",
              .map = "mlp(layers)",
              .similarity = "student",
              .normaliser = "joint",
              .target = "same class",
              .compared = "the batch itself",
              .solver = "cg"},
     .map = &eh_map_mlp,
     .compared = EH_BATCH},
    {.info = {.name = "dt-nca",
              .summary =
                  "deep map of sigmoid layers, neighbourhood components with Student similarities (Min et al. 2010)",
              .map = "mlp(layers)",
              .similarity = "student",
              .normaliser = "row",
              .target = "NCA",
              .compared = "the batch itself",
              .solver = "cg"},
     .map = &eh_map_mlp,
     .row = true,
     .nca = true,
     .compared = EH_BATCH},
    {.info = {.name = "linear-en-hope",
              .summary = "linear map, points collapse onto a few exemplars",
              .map = "linear",
              .similarity = "student",
              .normaliser = "joint",
              .target = "same class",
              .compared = "z exemplars",
              .solver = "cg"},
     .map = &eh_map_linear,
     .compared = EH_EXEMPLARS},
    {.info = {.name = "mcml+",
              .summary = "maximally collapsing metric learning, its linear map learned directly",
              .map = "linear",
              .similarity = "gaussian",
              .normaliser = "row",
              .target = "same class",
              .compared = "the batch itself",
              .solver = "cg"},
     .map = &eh_map_linear,
     .gaussian = true,
     .row = true,
     .compared = EH_BATCH},
    {.info = {.name = "nca",
              .summary = "neighbourhood components analysis",
              .map = "linear",
              .similarity = "gaussian",
              .normaliser = "row",
              .target = "NCA",
              .compared = "the batch itself",
              .solver = "cg"},
     .map = &eh_map_linear,
     .gaussian = true,
     .row = true,
     .nca = true,
     .compared = EH_BATCH},
    {.info = {.name = "snc",
              .summary = "stochastic neighbour compression: exemplars learned in the input space (Kusner et al. 2014)",
              .map = "identity",
              .similarity = "gaussian, scaled",
              .normaliser = "row",
              .target = "NCA",
              .compared = "z exemplars",
              .solver = "cg"},
     .map = &eh_map_identity,
     .gaussian = true,
     .row = true,
     .nca = true,
     .compared = EH_EXEMPLARS,
     .own_scale = true,
     .nearest = 1},
    {.info = {.name = "knn",
              .summary = "no training: exact nearest neighbours in the input space, the yardstick",
              .map = "identity",
              .similarity = "-",
              .normaliser = "-",
              .target = "-",
              .compared = "all training points",
              .solver = "-"},
     .map = &eh_map_identity,
     .compared = EH_NOTHING},
};

enum { METHODS = sizeof methods / sizeof *methods };

int enhope_method_count(void)
{
    return METHODS;
}

const enhope_method_info *enhope_method_get(int i)
{
    return i >= 0 && i < METHODS ? &methods[i].info : NULL;
}

const eh_method *eh_method_find(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (!strcmp(methods[i].info.name, name)) return &methods[i];
    return NULL;
}
