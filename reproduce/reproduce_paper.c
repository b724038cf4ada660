/* The report on the paper: its tables, claims and figure, and results beyond the paper. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <string.h>

#include "reproduce.h"

/* ---- claims ---- */

static spread claim_side(const reproduction *r, const char *name, int set)
{
    char id[64];
    snprintf(id, sizeof id, "%s", name);
    char *kmeans = strstr(id, "+kmeans");
    if (kmeans) *kmeans = 0;
    return report_spread(r, plan_row_number(id), set, kmeans ? KMEANS_ERROR : TEST);
}

/* Whether the claim "gap > 0" is confirmed. scale is the deviation of the gap, NaN for a single
 * seed. */
static void put_verdict(double gap, double scale, char *text, size_t size)
{
    const char *sign = gap > 0 ? "yes" : "NO";
    const double by = fabs(gap) / scale;
    if (!(scale > 0))
        snprintf(text, size, "%s, by %.2f points", sign, fabs(gap));
    else if (by < 2)
        snprintf(text, size, "undecided: %s by %.1f standard deviations", gap > 0 ? "lower" : "higher", by);
    else if (by < 10)
        snprintf(text, size, "%s, by %.1f standard deviations", sign, by);
    else
        snprintf(text, size, "%s, by more than 10 standard deviations", sign);
}

static void put_claims(const reproduction *r, document *d)
{
    char text[128];
    document_headings(d, "claim of the paper", "data", "first", "second", "confirmed", NULL);
    for (int i = 0; i < plan_claims(); i++)
        for (int set = 0; set < SETS; set++) {
            const plan_claim *claim = plan_claim_get(i);
            if (!claim->on[set]) continue;
            const spread a = claim_side(r, claim->better, set), b = claim_side(r, claim->worse, set);
            if (!a.count || !b.count) continue;
            document_cell(d, claim->text);
            document_cell(d, plan_sets[set].name);
            report_put_error(d, a, 0);
            report_put_error(d, b, 0);
            put_verdict(b.mean - a.mean, hypot(a.deviation, b.deviation), text, sizeof text);
            document_cell(d, text);
            document_end_row(d);
        }
    document_close_table(d);
}

/* ---- speed ---- */

static void put_times(document *d, double seconds, double of)
{
    char text[64] = "not installed";
    if (isfinite(seconds)) snprintf(text, sizeof text, "%.3g s, %.0f x", seconds, seconds / of);
    document_cell(d, text);
}

static void put_speed(const reproduction *r, document *d)
{
    static const double paper[SETS] = {463, 28, 101, 0};
    char text[128];
    speed_result s;
    document_headings(d, "data", "points, queries, inputs", "paper's speed-up", "20 exemplars", "enhope's exact kNN",
                      "faiss-flat", "scikit-learn brute force", "error, 20 exemplars", "error, kNN", NULL);
    for (int set = 0; set < SETS; set++) {
        if (!speed_read(r, set, &s)) continue;
        document_cell(d, plan_sets[set].name);
        snprintf(text, sizeof text, "%lld, %lld, %lld", (long long)s.training, (long long)s.test, (long long)s.inputs);
        document_cell(d, text);
        snprintf(text, sizeof text, paper[set] > 0 ? "%.0f x" : "-", paper[set]);
        document_cell(d, text);
        snprintf(text, sizeof text, "%.3g s", s.exemplars);
        document_cell(d, text);
        put_times(d, s.knn, s.exemplars);
        put_times(d, s.faiss, s.exemplars);
        put_times(d, s.sklearn, s.exemplars);
        snprintf(text, sizeof text, "%.2f", s.exemplars_error);
        document_cell(d, text);
        snprintf(text, sizeof text, "%.2f", s.knn_error);
        document_cell(d, text);
        document_end_row(d);
    }
    document_close_table(d);
    for (int set = 0; set < SETS; set++) {
        if (!speed_read(r, set, &s)) continue;
        document_paragraph(d, "Measured on %s, best of repeats.", s.machine);
        break;
    }
    if (speed_read(r, MNIST, &s) && isfinite(s.deep))
        document_paragraph(
            d,
            "dt-MCML compares with all training points. It classifies in %.3g s, %.0f times as long as with 20 "
            "exemplars (paper: 316), and embeds in %.3g s instead of %.3g s, %.1f times as long (paper: 2).",
            s.deep, s.deep / s.exemplars, s.deep_embedding, s.embedding, s.deep_embedding / s.embedding);
}

/* ---- figure 1 ---- */

static int draw_panel(const reproduction *r, enhope_context *ctx, const enhope_dataset *test, const char *id, FILE *out)
{
    const cell at = {.row = plan_row_number(id), .set = MNIST, .seed = 1};
    char path[PATH_SIZE];
    enhope_model *model = NULL;
    cell_model_path(r, at, path);
    const enhope_status status = enhope_model_load(ctx, path, &model);
    if (status) return cli_fail(ctx, status);
    cli_session session = {.ctx = ctx, .data = (enhope_dataset *)(uintptr_t)test, .model = model, .part = "test"};
    enhope_dataset_get_info(test, &session.data_info);
    enhope_model_get_info(model, &session.model_info);
    const cli_options look = {.picture = {.title = plan_row_get(at.row)->name, .width = 560, .height = 480}};
    const int code = cli_draw(&session, &look, CANVAS_SVG, out);
    enhope_model_free(model);
    return code;
}

static int put_panel(const reproduction *r, document *d, enhope_context *ctx, const enhope_dataset *test,
                     const char *id)
{
    char path[PATH_SIZE], buffer[4096];
    cli_output output = {0};
    snprintf(path, sizeof path, "%s/figure-1-%s.svg", r->folder, id);
    int code = cli_output_open(&output, path);
    if (!code) code = draw_panel(r, ctx, test, id, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    if (code) return code;
    fprintf(d->md, "![%s](figure-1-%s.svg)\n", plan_row_get(plan_row_number(id))->name, id);
    FILE *picture = fopen(path, "rb");
    if (!picture) return cli_error("%s: cannot read the figure", path);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, picture)) > 0;) fwrite(buffer, 1, got, d->html);
    fclose(picture);
    return 0;
}

static int put_figure(const reproduction *r, document *d)
{
    static const char *const panels[] = {"mcml+", "dt-mcml", "en-hope-20-learned", "en-hope-10-learned"};
    enum { PANELS = sizeof panels / sizeof *panels };
    for (int i = 0; i < PANELS; i++) {
        cell_result c;
        if (!cell_read(r, (cell){plan_row_number(panels[i]), MNIST, 1}, &c)) return 0;
    }
    document_heading(d, "Figure 1");
    document_paragraph(
        d, "MNIST's test digits in two dimensions, seed 1. Open circles are the learned exemplars. Dots that coincide "
           "are drawn once.");
    enhope_context *ctx = enhope_context_create();
    enhope_dataset *test = NULL;
    if (!ctx) return cli_error("out of memory");
    int code = cell_data(r, (cell){.set = MNIST, .seed = 1}, "test", ctx, &test);
    fputc('\n', d->md);
    fputs("<figure>\n", d->html);
    for (int i = 0; i < PANELS && !code; i++) code = put_panel(r, d, ctx, test, panels[i]);
    fputs("</figure>\n", d->html);
    enhope_dataset_free(test);
    enhope_context_free(ctx);
    return code;
}

/* ---- report ---- */

static void put_introduction(const reproduction *r, document *d)
{
    report_put_command(r, d);
    document_paragraph(
        d,
        "The tables compare the figures of Min, Guo and Song, Exemplar-centered Supervised Shallow Parametric Data "
        "Embedding (IJCAI 2017), with those of enhope. Errors are percentages of the test part, mean ± standard "
        "deviation over seeds 1 to %d. Brackets show by how much a mean exceeds the paper's figure. 10 %% of the "
        "training part is held out, the epoch with the lowest error on it is kept, and the test part is used once "
        "for each model. MNIST has its own split. USPS and 20 Newsgroups are split at random for each seed (the "
        "paper does not describe its splits, and gives one number without a deviation).",
        r->seeds);
    report_put_devices(r, d);
}

static const bool three[SETS] = {true, true, true, false};

static void put_tables(const reproduction *r, document *d)
{
    static const bool vgg[SETS] = {[VGG] = true};
    document_heading(d, "Table 1: two dimensions, 5 nearest neighbors among all training points");
    report_put_errors(r, d, "lpp nca mcml mcml+ lmnn pt-sne dt-nca dt-mcml hope", three);
    document_paragraph(
        d,
        "LPP uses the graph of classes, which the paper's figures suggest. With the graph of neighbors it is in the "
        "table of methods that are not in the paper. The paper's MCML on USPS and 20 Newsgroups is the convex one. "
        "enhope accepts at most 10,000 samples for it, so only USPS is shown; MCML+ is compared with the same figures. "
        "The paper's figures for pt-SNE and dt-NCA look like pre-trained results of earlier papers (5.11 is not a "
        "multiple of 1/3000).");
    document_heading(d, "Table 2: features of a VGG-style network");
    report_put_errors(
        r, d,
        "lmnn nca mcml+ hope lmnn+kmeans nca+kmeans en-hope-10-kmeans en-hope-10-learned en-hope-20-kmeans "
        "en-hope-20-learned en-hope-10-random knn",
        vgg);
    document_paragraph(
        d, "The features come from another network than the paper's: compare with the last row, kNN in their 512 "
           "dimensions.");
    document_heading(d, "Table 3: two dimensions, compared with exemplars");
    report_put_errors(r, d,
                      "lpp+kmeans nca+kmeans lmnn+kmeans pt-sne+kmeans dt-mcml+kmeans en-hope-10-kmeans "
                      "en-hope-10-learned en-hope-20-kmeans en-hope-20-learned en-hope-10-random",
                      three);
    document_paragraph(
        d,
        "s-kmeans + a method is the model of table 1 with 20 k-means centers of the training part as references. The "
        "paper prints 59.67 for LMNN on both MNIST and USPS.");
}

static void put_beyond_tables(const reproduction *r, document *d)
{
    static const bool digits[SETS] = {true, true, false, false}, mnist[SETS] = {true},
                      four[SETS] = {true, true, true, true}, all[SETS] = {true, true, true, true, true};
    document_heading(d, "HOPE and en-HOPE with augmented inputs");
    document_paragraph(
        d, "The maps and exemplars are the same. They are trained by Adam with Gaussian noise or dropout on the inputs "
           "of training batches, chosen on the validation part. The paper's figures are those without.");
    report_put_errors(r, d,
                      "hope-noise en-hope-10-kmeans-noise en-hope-10-learned-noise en-hope-20-kmeans-noise "
                      "en-hope-20-learned-noise en-hope-10-random-noise",
                      four);
    document_heading(d, "SNC, ten dimensions and the input space");
    report_put_errors(r, d, "snc knn", digits);
    report_put_errors(r, d, "en-hope-10-D en-hope-10-D-noise", mnist);
    document_heading(d, "Recipes");
    document_paragraph(
        d, "The paper's figures are the best among its variants. `enhope recipes` prints the settings of a recipe, and "
           "the last table lists the changes made here. docs/explanation/accuracy.md shows the effect of each choice.");
    report_put_errors(r, d, "fast best knn", all);
    report_put_errors(r, d, "best-10-D best-small best-moved", mnist);
    document_heading(d, "Methods that are not in the paper");
    report_put_errors(r, d, "pca lpp-nearest linear-en-hope deep-en-hope en-hope-10-D snc", three);
}

int report_put_paper(const reproduction *r, document *d)
{
    document_head(d, "Reproduction of the paper");
    put_introduction(r, d);
    put_tables(r, d);
    put_beyond_tables(r, d);
    document_heading(d, "Table 4: classification time");
    put_speed(r, d);
    document_heading(d, "Orderings");
    document_paragraph(d, "Standard deviations are those of the difference of two single runs over seeds. A "
                          "difference below two of them is undecided. They do not include the sampling error of the "
                          "test part (about 0.17 points at 3 %% of 10,000).");
    put_claims(r, d);
    const int code = put_figure(r, d);
    if (code) return code;
    document_heading(d, "Settings and costs");
    report_put_costs(r, d);
    return 0;
}
