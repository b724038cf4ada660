/* Training in one step: passes the samples of a trainer to a solver (solve/solve.h). */
#include "solve/solve.h"
#include "train/trainer.h"

enhope_status eh_train_solve(enhope_trainer *t, eh_solve solver, double response, double *loss)
{
    const eh_solve_data d = {.ctx = t->ctx,
                             .cp = t->cp,
                             .table = &t->embedder.table,
                             .rows = t->samples.rows,
                             .placed_rows = t->samples.placed_rows,
                             .n = t->samples.resident_n,
                             .H = t->embedder.shape.H,
                             .h = t->embedder.shape.h,
                             .classes = t->data->c,
                             .block = t->embedder.capacity,
                             .ld = t->embedder.ld,
                             .method = t->method->info.name,
                             .stop = eh_train_stop,
                             .user = t};
    if (solver == EH_SOLVE_PCA) return eh_solve_pca(&d, response, t->parameters.theta, loss);
    if (solver == EH_SOLVE_MCML) return eh_solve_mcml(&d, t->parameters.theta, loss);
    return eh_solve_lpp(&d, t->set.objective.graph_k, t->parameters.theta, loss);
}
