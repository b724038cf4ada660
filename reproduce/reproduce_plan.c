/* The results of the paper, and the settings to reproduce them. The settings were chosen on
 * validation parts, never on test data. */
#include <string.h>

#include "reproduce.h"

const plan_set plan_sets[SETS] = {
    [MNIST] = {"mnist", "MNIST", "mnist", {{0}}, NULL},
    [USPS] = {"usps", "USPS", "usps/usps_all.mat", {{0}}, "8000@"},
    [NEWS] = {"20news", "20 Newsgroups", "20news/20news_w100.mat", {{0}}, "15000@"},
    [VGG] = {"vgg",
             "VGG features of MNIST",
             NULL,
             {{"mnist-vgg512/train-features-idx2-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz"},
              {"mnist-vgg512/t10k-features-idx2-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"}},
             NULL},
    [FASHION] = {"fashion", "Fashion-MNIST", "fashion-mnist", {{0}}, NULL},
};

/* clang-format off */
/* The recipe of the paper: order 2, 800 factors, 400 hidden units, joint normalizer, conjugate
 * gradients. Batches and line searches were chosen by validation. */
#define EN_HOPE    "method en-hope target_weight pair exemplars "
#define HOPE_MNIST "batch_size 2000 line_searches 15 n_epochs 14"
#define HOPE_USPS  "batch_size 500 line_searches 8 n_epochs 30"
#define HOPE_NEWS  "batch_size 500 line_searches 3 n_epochs 20 init_scale 0.1"
#define HOPE_VGG   "batch_size 2000 line_searches 5 n_epochs 10"
#define HOPE_SETS  {HOPE_MNIST, HOPE_USPS, HOPE_NEWS, HOPE_VGG}
/* The same maps trained by Adam with augmented inputs. */
#define ADAM       "solver adam patience 0 "
#define NOISY_SETS {"dropout 0.2 batch_size 500 n_epochs 60", "noise 0.2 dropout 0.2 batch_size 200 n_epochs 300", \
                    "dropout 0.2 learning_rate 0.001 batch_size 500 n_epochs 60", "noise 0.1 batch_size 500 n_epochs 30"}
#define DEEP_SETS  {"learning_rate 0.003 batch_size 500 n_epochs 40", "learning_rate 0.01 batch_size 500 n_epochs 100", \
                    "learning_rate 0.01 batch_size 500 n_epochs 30", NULL}

/* The recipe best for sparse words: dropout instead of noise, and one exemplar per class. */
#define BEST_NEWS  "adversarial_step 0 noise 0 dropout 0.2 n_exemplars 4 n_epochs 40 learning_rate 0.003 init_scale 1"
#define HALF       "recipe best n_epochs 150"
#define CHANGED(id, name, change) \
    {id, name, HALF, {change, change, BEST_NEWS change}, {0}, {0}, false, NULL, ABLATION}
#define CHANGED_DIGITS(id, name, change) {id, name, HALF, {change, change}, {0}, {0}, false, NULL, ABLATION}
#define CHANGED_NEWS(id, name, change)   {id, name, HALF, {[NEWS] = BEST_NEWS change}, {0}, {0}, false, NULL, ABLATION}

static const char everywhere[] = " mnist usps 20news vgg ", mnist[] = " mnist ";

static const plan_row rows[] = {
    /* linear maps */
    {"pca", "PCA", "method pca", {"", "", "", ""}, {0}, {0}, true, NULL, OF_PAPER},
    {"lpp", "LPP, class graph (LDA)", "method lpp graph_k 0", {"", "", "", NULL},
     {47.20, 34.77, 24.64}, {45.13, 33.23, 33.09}, true, NULL, OF_PAPER},
    {"lpp-nearest", "LPP, 5 nearest", "method lpp graph_k 5", {"", "", "", NULL}, {0}, {0}, true, NULL, OF_PAPER},
    {"nca", "NCA", "method nca",
     {"batch_size 5000 line_searches 10 n_epochs 20", "batch_size 500 n_epochs 30 init_scale 0.1",
      "batch_size 5000 line_searches 10 n_epochs 20 init_scale 0.1", "batch_size 5000 line_searches 10 n_epochs 15"},
     {45.91, 37.17, 30.84, 1.83}, {50.67, 35.13, 36.71, 2.18}, true, NULL, OF_PAPER},
    {"mcml", "MCML (convex)", "method mcml", {NULL, "", NULL, NULL}, {0, 44.60}, {0}, true, NULL, OF_PAPER},
    {"mcml+", "MCML+", "method mcml+",
     {"solver adam learning_rate 0.01 batch_size 1000 n_epochs 30", "batch_size 0 line_searches 200 n_epochs 1",
      "batch_size 5000 line_searches 10 n_epochs 20 init_scale 10", "batch_size 5000 line_searches 10 n_epochs 15"},
     {35.67, 44.60, 26.65, 0.80}, {0}, true, mnist, OF_PAPER},
    {"lmnn", "LMNN", "method lmnn",
     {"solver adam learning_rate 0.003 batch_size 500 n_epochs 20", "batch_size 300 n_epochs 15",
      "solver adam learning_rate 0.03 batch_size 500 n_epochs 30", "solver adam learning_rate 0.003 batch_size 500 n_epochs 20"},
     {56.28, 48.40, 29.15, 1.75}, {59.67, 59.67, 38.24, 2.22}, true, NULL, OF_PAPER},
    /* deep maps */
    {"pt-sne", "pt-SNE", "method pt-sne perplexity 15 learning_rate 0.02 " ADAM,
     {"batch_size 2000 n_epochs 40", "batch_size 1000 n_epochs 100", "batch_size 1000 n_epochs 40", NULL},
     {9.90, 17.90, 28.90}, {18.86, 29.47, 33.17}, true, NULL, OF_PAPER},
    {"dt-nca", "dt-NCA", "method dt-nca " ADAM, DEEP_SETS, {3.48, 5.11, 25.85}, {0}, true, NULL, OF_PAPER},
    {"dt-mcml", "dt-MCML", "method dt-mcml " ADAM, DEEP_SETS,
     {3.35, 4.07, 21.10}, {3.17, 4.27, 21.90}, true, mnist, OF_PAPER},
    /* methods of the paper */
    {"hope", "HOPE", "method hope", HOPE_SETS, {3.20, 3.03, 20.05, 0.65}, {0}, true, NULL, OF_PAPER},
    {"en-hope-10-kmeans", "en-HOPE, 10 k-means exemplars", EN_HOPE "kmeans n_exemplars 10", HOPE_SETS,
     {2.86, 2.96, 18.27, 0.67}, {0}, false, NULL, OF_PAPER},
    {"en-hope-10-learned", "en-HOPE, 10 learned exemplars", EN_HOPE "learned n_exemplars 10", HOPE_SETS,
     {2.80, 2.67, 18.84, 0.66}, {0}, false, mnist, OF_PAPER},
    {"en-hope-20-kmeans", "en-HOPE, 20 k-means exemplars", EN_HOPE "kmeans n_exemplars 20", HOPE_SETS,
     {2.72, 2.83, 19.64, 0.64}, {0}, false, NULL, OF_PAPER},
    {"en-hope-20-learned", "en-HOPE, 20 learned exemplars", EN_HOPE "learned n_exemplars 20", HOPE_SETS,
     {2.66, 3.03, 18.44, 0.68}, {0}, false, everywhere, OF_PAPER},
    {"en-hope-10-random", "en-HOPE, 10 random exemplars", EN_HOPE "random n_exemplars 10", HOPE_SETS,
     {3.19, 3.10, 18.84, 0.68}, {0}, false, NULL, OF_PAPER},
    {"en-hope-10-D", "en-HOPE, 20 learned exemplars, 10-D", EN_HOPE "learned n_exemplars 20 n_components 10",
     {"batch_size 2000 line_searches 5 n_epochs 40", HOPE_USPS, HOPE_NEWS, NULL}, {2.31}, {0}, false, NULL, OF_PAPER},
    /* the same with augmented inputs */
    {"hope-noise", "HOPE", "method hope " ADAM,
     {"dropout 0.3 batch_size 500 n_epochs 60", "dropout 0.3 batch_size 200 n_epochs 200", "dropout 0.2 batch_size 1000 n_epochs 60",
      "noise 0.1 batch_size 500 n_epochs 30"},
     {3.20, 3.03, 20.05, 0.65}, {0}, false, NULL, OF_PAPER},
    {"en-hope-10-kmeans-noise", "en-HOPE, 10 k-means exemplars", EN_HOPE "kmeans n_exemplars 10 " ADAM, NOISY_SETS,
     {2.86, 2.96, 18.27, 0.67}, {0}, false, NULL, OF_PAPER},
    {"en-hope-10-learned-noise", "en-HOPE, 10 learned exemplars", EN_HOPE "learned n_exemplars 10 " ADAM, NOISY_SETS,
     {2.80, 2.67, 18.84, 0.66}, {0}, false, NULL, OF_PAPER},
    {"en-hope-20-kmeans-noise", "en-HOPE, 20 k-means exemplars", EN_HOPE "kmeans n_exemplars 20 " ADAM, NOISY_SETS,
     {2.72, 2.83, 19.64, 0.64}, {0}, false, NULL, OF_PAPER},
    {"en-hope-20-learned-noise", "en-HOPE, 20 learned exemplars", EN_HOPE "learned n_exemplars 20 " ADAM, NOISY_SETS,
     {2.66, 3.03, 18.44, 0.68}, {0}, false, NULL, OF_PAPER},
    {"en-hope-10-random-noise", "en-HOPE, 10 random exemplars", EN_HOPE "random n_exemplars 10 " ADAM, NOISY_SETS,
     {3.19, 3.10, 18.84, 0.68}, {0}, false, NULL, OF_PAPER},
    {"en-hope-10-D-noise", "en-HOPE, 20 learned exemplars, 10-D, augmented inputs",
     EN_HOPE "learned n_exemplars 20 n_components 10 " ADAM, {"noise 0.2 batch_size 500 n_epochs 60", NULL, NULL, NULL},
     {2.31}, {0}, false, NULL, OF_PAPER},
    /* methods that are not in the paper */
    {"deep-en-hope", "deep en-HOPE, 20 learned exemplars", "method deep-en-hope exemplars learned n_exemplars 20 " ADAM, DEEP_SETS,
     {0}, {0}, false, NULL, OF_PAPER},
    {"linear-en-hope", "linear en-HOPE, 20 learned exemplars", "method linear-en-hope exemplars learned n_exemplars 20",
     {"batch_size 5000 line_searches 10 n_epochs 20", "batch_size 2000 line_searches 10 n_epochs 30",
      "batch_size 2000 line_searches 10 n_epochs 20", NULL}, {0}, {0}, false, NULL, OF_PAPER},
    {"snc", "SNC, 20 exemplars", "method snc exemplars learned n_exemplars 20", {"n_epochs 16", "n_epochs 20", "n_epochs 20", NULL},
     {6.31, 17.50}, {0}, false, NULL, OF_PAPER},
    {"knn", "kNN in the input space", "method knn", {"", "", "", "", ""}, {3.05, 4.77, 25.12, 0.62}, {0}, false, NULL, BEYOND},
    /* beyond the paper: the recipes, with more dimensions, a smaller map or augmented images; the
     * figures of the paper are its best */
    {"fast", "recipe fast", "recipe fast", {"", "", "", "", ""}, {2.66, 2.67, 18.27, 0.64}, {0}, false, NULL, BEYOND},
    {"best", "recipe best", "recipe best", {"", "", BEST_NEWS, "", ""},
     {2.66, 2.67, 18.27, 0.64}, {0}, false, mnist, BEYOND},
    {"best-10-D", "recipe best, 10-D", "recipe best n_components 10 noise 0.2 adversarial_step 0.05", {""},
     {2.31}, {0}, false, NULL, BEYOND},
    {"best-small", "recipe best, 192 factors, 96 hidden units",
     "recipe best n_factors 192 n_hidden 96 noise 0.05 adversarial_step 0.04 learning_rate 0.0015", {""}, {0}, {0}, false, NULL, BEYOND},
    {"best-moved", "recipe best, images moved in training",
     "recipe best adversarial_step 0.05 shift 1 affine 0.7 elastic 0.5", {""}, {0}, {0}, false, NULL, BEYOND},
    /* ablation: the recipe best with half of its epochs, and one setting changed at a time */
    CHANGED("half", "baseline", ""),
    CHANGED("epochs-75", "75 epochs", " n_epochs 75"),
    CHANGED_DIGITS("no-adversary", "no adversarial step", " adversarial_step 0"),
    CHANGED_DIGITS("no-noise", "no noise", " noise 0"),
    CHANGED_DIGITS("neither", "neither adversarial step nor noise", " adversarial_step 0 noise 0"),
    CHANGED_DIGITS("dropout", "dropout 0.2 instead of noise", " noise 0 dropout 0.2"),
    CHANGED_NEWS("news-no-dropout", "no dropout", " dropout 0"),
    CHANGED_NEWS("news-dropout-more", "dropout 0.35", " dropout 0.35"),
    CHANGED_NEWS("news-noise", "noise 0.1 added", " noise 0.1"),
    CHANGED_NEWS("news-adversary", "adversarial step 0.1 added", " adversarial_step 0.1"),
    CHANGED_DIGITS("smooth", "label smoothing 0.1", " label_smoothing 0.1"),
    CHANGED_NEWS("news-smooth", "label smoothing 0.1", " label_smoothing 0.1"),
    CHANGED("class-weight", "balanced class weights", " class_weight balanced"),
    CHANGED("order-2", "order 2", " order 2"),
    CHANGED("order-4", "order 4", " order 4"),
    CHANGED("joint", "joint normalizer", " normalizer joint"),
    CHANGED("target-nca", "NCA target", " target nca"),
    CHANGED("gaussian", "gaussian similarity", " similarity gaussian"),
    CHANGED("dof-3", "three degrees of freedom", " dof 3"),
    CHANGED_DIGITS("start-1", "initial scale 1", " init_scale 1"),
    CHANGED("kmeans", "k-means exemplars, not learned", " exemplars kmeans"),
    CHANGED("random", "random exemplars", " exemplars random"),
    CHANGED_DIGITS("z-10", "one exemplar a class", " n_exemplars 10"),
    CHANGED_NEWS("news-z-8", "two exemplars a class", " n_exemplars 8"),
    CHANGED("small", "400 factors, 200 hidden units", " n_factors 400 n_hidden 200"),
    CHANGED("large", "1600 factors, 400 hidden units", " n_factors 1600"),
    CHANGED_DIGITS("shift", "images shifted by up to 1", " shift 1"),
    CHANGED_DIGITS("affine", "affine 0.7", " affine 0.7"),
    CHANGED_DIGITS("elastic", "elastic 0.5", " elastic 0.5"),
    CHANGED_DIGITS("moved", "shift, affine and elastic", " shift 1 affine 0.7 elastic 0.5"),
};
enum { ROWS = sizeof rows / sizeof *rows };

int plan_rows(void)
{
    return ROWS;
}

const plan_row *plan_row_get(int i)
{
    return &rows[i];
}

int plan_row_number(const char *id)
{
    int row = 0;
    while (strcmp(rows[row].id, id)) row++;
    return row;
}

#define DIGITS_AND_NEWS {true, true, true, false}
#define EVERYWHERE      {true, true, true, true}
static const plan_claim claims[] = {
    {"HOPE beats LPP", "hope", "lpp", DIGITS_AND_NEWS},
    {"HOPE beats NCA", "hope", "nca", EVERYWHERE},
    {"HOPE beats MCML+", "hope", "mcml+", EVERYWHERE},
    {"HOPE beats LMNN", "hope", "lmnn", EVERYWHERE},
    {"HOPE beats pt-SNE", "hope", "pt-sne", DIGITS_AND_NEWS},
    {"HOPE beats dt-NCA", "hope", "dt-nca", DIGITS_AND_NEWS},
    {"HOPE beats dt-MCML", "hope", "dt-mcml", DIGITS_AND_NEWS},
    {"en-HOPE (20 learned) beats HOPE", "en-hope-20-learned", "hope", DIGITS_AND_NEWS},
    {"en-HOPE (10 learned) beats HOPE", "en-hope-10-learned", "hope", DIGITS_AND_NEWS},
    {"en-HOPE (20 learned) beats s-kmeans + LPP", "en-hope-20-learned", "lpp+kmeans", DIGITS_AND_NEWS},
    {"en-HOPE (20 learned) beats s-kmeans + NCA", "en-hope-20-learned", "nca+kmeans", EVERYWHERE},
    {"en-HOPE (20 learned) beats s-kmeans + LMNN", "en-hope-20-learned", "lmnn+kmeans", EVERYWHERE},
    {"en-HOPE (20 learned) beats s-kmeans + pt-SNE", "en-hope-20-learned", "pt-sne+kmeans", DIGITS_AND_NEWS},
    {"en-HOPE (20 learned) beats s-kmeans + dt-MCML", "en-hope-20-learned", "dt-mcml+kmeans", DIGITS_AND_NEWS},
    {"20 learned exemplars beat 20 k-means centers",
     "en-hope-20-learned",
     "en-hope-20-kmeans",
     {true, false, true, false}},
    {"10 learned exemplars beat 10 random points",
     "en-hope-10-learned",
     "en-hope-10-random",
     {true, true, false, true}},
    {"en-HOPE (20 learned, 2-D) beats kNN in the input space", "en-hope-20-learned", "knn", DIGITS_AND_NEWS},
    {"en-HOPE beats SNC, 20 exemplars each", "en-hope-20-learned", "snc", {true, true, false, false}},
    {"en-HOPE in 10-D beats en-HOPE in 2-D", "en-hope-10-D", "en-hope-20-learned", {true, false, false, false}},
};
/* clang-format on */
enum { CLAIMS = sizeof claims / sizeof *claims };

int plan_claims(void)
{
    return CLAIMS;
}

const plan_claim *plan_claim_get(int i)
{
    return &claims[i];
}
