/* The functions of enhope that iris.R calls by .C: R passes pointers to its own vectors. */
#include <stdio.h>
#include <stdlib.h>

#include <enhope.h>

/* Trains on a file and classifies the samples of another: the names of their classes in `name`,
 * an array of *n. *n is then their number, and *message is "" or a failure. */
void iris_classify(char **train, char **fresh, char **name, int *n, char **message);
void iris_classify(char **train, char **fresh, char **name, int *n, char **message)
{
    static char text[1024];
    enhope_context *ctx = enhope_context_create();
    enhope_dataset *data = NULL, *samples = NULL;
    enhope_model *model = NULL;
    enhope_dataset_info info = {0};
    int32_t *label = NULL;
    int failed = 1;
    if (enhope_dataset_read(ctx, &(enhope_source){.path = *train}, &data)) goto done;
    if (enhope_train(ctx, data, NULL, NULL, NULL, &model)) goto done;
    if (enhope_dataset_read(ctx, &(enhope_source){.path = *fresh, .model = model, .label = "none", .limit = *n},
                            &samples))
        goto done;
    enhope_dataset_get_info(samples, &info);
    label = malloc((size_t)info.n * sizeof *label);
    if (!label || enhope_model_predict(ctx, model, samples, 0, &(enhope_prediction){.label = label})) goto done;
    *n = (int)info.n;
    for (int i = 0; i < *n; i++) {
        static char names[64][64]; /* R copies them after the call */
        snprintf(names[i % 64], sizeof names[0], "%s", enhope_model_class_name(model, label[i]));
        name[i] = names[i % 64];
    }
    failed = 0;
done:
    snprintf(text, sizeof text, "%s", failed ? enhope_error(ctx) : "");
    *message = text;
    free(label);
    enhope_dataset_free(samples);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
}
