/* A program that uses the library on ranks. Rank 1 does not take part in the training, so rank 0
 * gives up; its process must end as the program wants.
 *
 * usage: mpirun -n 2 host */
#define _DEFAULT_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "enhope_advanced.h"

static void say_goodbye(void)
{
    puts("the exit handler of the program ran");
    fflush(stdout);
}

int main(void)
{
    enhope_context *ctx = enhope_context_create();
    enhope_dataset *data = NULL;
    enhope_model *model = NULL;
    atexit(say_goodbye);
    if (!ctx || enhope_context_set_ranks(ctx, "mpi")) return 2;
    if (enhope_context_rank(ctx) == 1) {
        sleep(90); /* mpirun ends it */
        return 0;
    }
    if (enhope_dataset_read(ctx, &(enhope_source){.path = "synthetic:blobs,n=100,seed=1"}, &data)) return 2;
    if (!enhope_train(ctx, data, NULL, NULL, NULL, &model)) return 2;
    puts(enhope_error(ctx));
    enhope_dataset_free(data);
    enhope_context_free(ctx);
    return 0;
}
