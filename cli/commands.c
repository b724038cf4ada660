/* The program enhope: its commands and their options. The parser, the help, the manual page and the
 * ranks use these tables. The settings of training are options too; the library has their table. */
#include <stddef.h>

#include "core/cli.h"

/* clang-format off */
static const cli_command commands[] = {
    {"train", "--data SPEC [-o FILE] [OPTIONS] [SETTINGS]", "train a model on labeled data",
     "Learns a map from the inputs to a few dimensions in which points of the same class are close together, and a few "
     "exemplars of each class. Writes the model as one safetensors file. A part of the data (--validation-fraction) is held out: the "
     "saved model is that with the lowest error on it, and probabilities are calibrated on it.\n"
     "Progress is printed to standard error: a bar on a terminal, otherwise one line per epoch. Ctrl-C completes the batch, "
     "saves the best model so far and exits with 130. A second Ctrl-C stops immediately.\n"
     "With --checkpoint DIR, an interrupted run resumes when the same command is run again with --resume, and produces a "
     "byte-identical model. A signal then writes a checkpoint instead of a model.\n"
     "Under mpirun, all ranks train one model together, with the same result as one process. Rank 0 prints and writes.",
     "enhope train --data mnist --exemplars learned -z 20 --random-state 1 -o digits.safetensors\n"
     "enhope train --data flowers.csv --label species --scaling standard -o flowers.safetensors\n"
     "enhope train --data mnist --recipe best --checkpoint run --resume -o best.safetensors",
     0, 0, true, CLI_TOGETHER, cmd_train},
    {"update", "MODEL --data SPEC [-o FILE | --in-place] [OPTIONS] [SETTINGS]", "continue to train a model on new data",
     "Continues training from a model: training starts with its map, scaling and exemplars, and extends its history. Classes are "
     "matched by name. New classes get exemplars of their own. Classes of the model that are not in the data are kept. "
     "Unlabeled samples are ignored.\n"
     "The settings are those of the model, except n_epochs, batch_size and time_limit. Settings that define the shape of the map "
     "(recipe, method, n_components, n_factors, n_hidden, order, hidden_layer_sizes, activation, init_scale, n_exemplars, scaling) cannot be changed. MODEL is overwritten only "
     "with --in-place or if -o names it.",
     "enhope update digits.safetensors --data new.npz -o more.safetensors\n"
     "enhope update flowers.safetensors --data garden.csv --n-epochs 20 --learning-rate 0.0005 --in-place",
     1, 1, true, CLI_TOGETHER, cmd_update},
    {"tune", "--data SPEC [--for TIME] [-o FOLDER] [OPTIONS] [SETTINGS]", "search for good settings",
     "Trains models with random settings and compares their errors on the validation part, which is the same for all trials. "
     "The test part is never read. Trials run in brackets of nine: each is trained for a ninth of the epochs (90, or "
     "--n-epochs), the best third for a third, and the best of these for all epochs. The search begins with the recipes fast "
     "and best. Settings on the command line apply to all trials and are not searched.\n"
     "Prints the runs that no other run beats in error and size, or in error and speed, and compares the best with the "
     "defaults. The folder contains best.safetensors, report.md and the runs. Run the same command again to resume an "
     "interrupted search, or to extend a completed one by the same time.",
     "enhope tune --data mnist --for 30m -o digits\n"
     "enhope tune --data flowers.csv --label species --for 90s --size 100000\n"
     "enhope tune --data mnist --device cuda --n-components 10 --trials 40",
     0, 0, true, CLI_ALONE, cmd_tune},
    {"embed", "MODEL --data SPEC [-o FILE] [OPTIONS]", "map points to the embedding",
     "Writes CSV with the columns y1, y2, ... and, if the data is labeled, label. If the output file ends in .npy, writes a "
     "float32 array instead.",
     "enhope embed digits.safetensors --data mnist --part test -o map.csv", 1, 1, false, CLI_BY_RANK_0, cmd_embed},
    {"predict", "MODEL --data SPEC [-o FILE] [OPTIONS]", "classify points",
     "Writes CSV with the column label. --proba adds a column for each class, --winner adds the nearest exemplar and the "
     "distance to it. --reject leaves the label of uncertain points empty.",
     "enhope predict digits.safetensors --data new.csv --label none --proba -o answers.csv\n"
     "cut -d, -f2- points.csv | enhope predict flowers.safetensors --data - --label none",
     1, 1, false, CLI_BY_RANK_0, cmd_predict},
    {"eval", "MODEL --data SPEC [OPTIONS]", "measure the error on labeled data",
     "Prints the error with its 95 % Wilson interval, the error of each class, the confusion matrix and the time per point. "
     "For the probabilities, prints the negative log-likelihood and the expected calibration error (15 bins). Classes are "
     "matched by name. Points of a class that the model does not know count as errors.\n"
     "--reject prints the error if the least confident points are rejected. Choose a threshold on other data than those on "
     "which you report its error.\n"
     "Under mpirun, the ranks divide the points, and the results are those of one process.",
     "enhope eval digits.safetensors --data mnist --part test --json\n"
     "enhope eval digits.safetensors --data mnist --part test --reject probability --reliability",
     1, 1, false, CLI_TOGETHER, cmd_eval},
    {"plot", "MODEL --data SPEC [-o map.svg] [OPTIONS]", "draw the embedding as SVG, PNG or PDF",
     "Draws a dot for each point and an open circle for each exemplar. The color shows the class, or the predicted class if the "
     "data is unlabeled. Dots are more opaque where their class is dense. With more than ten classes, colors repeat with "
     "other marks. With more than two dimensions, the first two are drawn.",
     "enhope plot digits.safetensors --data mnist --part test -o map.svg\n"
     "enhope plot digits.safetensors --data mnist --regions --errors --font serif -o map.pdf",
     1, 1, false, CLI_BY_RANK_0, cmd_plot},
    {"view", "MODEL --data SPEC [-o map.html] [OPTIONS]", "write an interactive page of the embedding",
     "Writes one HTML file that needs no network and sends no data. It contains the map to pan, zoom and select in; each sample "
     "with its label, prediction and nearest exemplar; filters, confusions and downloads; and the model, which classifies "
     "samples that are drawn, edited or typed in the page.",
     "enhope view digits.safetensors --data mnist -o map.html\n"
     "enhope view digits.safetensors --data mnist --part both --sample 30000",
     1, 1, false, CLI_BY_RANK_0, cmd_view},
    {"info", "MODEL|--devices [--json]", "describe a model file, or list the devices",
     "Prints the method, the map and its sizes, the classes and their exemplars, all settings and the training history. With "
     "--devices, prints the devices of this machine.",
     "enhope info digits.safetensors\nenhope info --devices", 0, 1, false, CLI_BY_RANK_0, cmd_info},
    {"data", "SPEC [OPTIONS]", "describe a data set",
     "Reads and checks the data as train does, and prints its size, type, range and classes.",
     "enhope data mnist --part test\nenhope data usps_all.mat --split 8000@1 --json\nenhope data clicks --check", 0, 1, false, CLI_BY_RANK_0, cmd_data},
    {"convert", "--data SPEC -o FOLDER [OPTIONS]", "convert data to shards that can be streamed",
     "Writes NPY files of about 256 MB and shards.json with their checksums. Use the folder as SPEC in other commands. CSV, "
     "LIBSVM, IDX, NPY (also .gz), NPZ and synthetic data are converted in constant memory. MAT, NPY in column order and "
     "--split need memory for all the data.\n"
     "To resume an interrupted conversion after its last complete shard, run the same command again. To compare the "
     "checksums, run enhope data FOLDER --check.",
     "enhope convert --data clicks.csv.gz --label clicked -o clicks\n"
     "enhope convert --data synthetic:digits,n=20000000,seed=1 -o digits\n"
     "enhope train --data clicks --memory 4GB -o clicks.safetensors",
     0, 0, false, CLI_BY_RANK_0, cmd_convert},
    {"methods", "[--settings] [--json] [--markdown]", "list the methods or the settings",
     "A method combines a map, a similarity, a normalizer, a target, reference points and a solver. The table shows the "
     "defaults. The column published shows the normalizer and the solver of the publication if they differ. To select these, "
     "use --recipe paper, or --normalizer published and --solver.",
     "enhope methods\nenhope methods --settings", 0, 0, false, CLI_BY_RANK_0, cmd_methods},
    {"recipes", "[--json]", "list the recipes: tested combinations of settings",
     "Prints the purpose of each recipe and the settings in which the recipes differ. train --recipe NAME applies all settings "
     "of a recipe. Other options, before or after it, override them.",
     "enhope recipes\nenhope train --data mnist --recipe best --n-factors 400 -o digits.safetensors", 0, 0, false, CLI_BY_RANK_0, cmd_recipes},
    {"help", "[COMMAND]", "describe a command and its options", "Without a command, prints the list of commands.",
     "enhope help train", 0, 1, false, CLI_BY_RANK_0, cmd_help},
    {0},
};

#define AT(field)  offsetof(cli_options, field)
#define WITH_DATA  " train update tune embed predict eval plot view data convert "
#define WITH_PART  " train update tune embed predict eval plot data "

static const cli_option options[] = {
    {"data", 0, "SPEC", CLI_TEXT, AT(data), 0, 0, WITH_DATA,
     "the data: a file (IDX, CSV, TSV, LIBSVM and NPY, each also .gz; NPZ; MAT), a folder of IDX files with "
     "the names of MNIST, a folder of shards, a pair of files X,y, - for CSV on standard input, or "
     "synthetic:digits,n=6000,seed=1 or synthetic:blobs,n=600,classes=3,inputs=5,seed=1"},
    {"part", 0, "train|test", CLI_TEXT, AT(source.part), 0, 0, WITH_PART,
     "the part of a folder, an .npz file, synthetic data or a --split; default train for train, update, tune and data, "
     "test for the other commands"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(source.part), 0, 0, " view ",
     "the part of a folder, an .npz file, synthetic data or a --split; with both, the page distinguishes them; default test"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(source.part), 0, 0, " convert ",
     "the part of a folder, an .npz file, synthetic data or a --split; both writes the folders train and test; "
     "default both, for synthetic data train"},
    {"split", 0, "N@SEED", CLI_TEXT, AT(source.split), 0, 0, WITH_DATA,
     "shuffle with this seed; the first N samples are the train part, the others the test part"},
    {"label", 0, "COLUMN", CLI_TEXT, AT(source.label), 0, 0, WITH_DATA,
     "the label column of CSV, by name or number (from 1), or none; default: a column with a usual name, else the last"},
    {"variables", 0, "X,y", CLI_TEXT, AT(source.variables), 0, 0, WITH_DATA,
     "the names of the values and the labels in a MAT or NPZ file; default: detected by shape and name"},
    {"memory", 0, "SIZE", CLI_TEXT, AT(source.memory), 0, 0, WITH_DATA,
     "stream data larger than SIZE, such as 800M or 4GB, from its files if possible (shards of enhope convert, uncompressed "
     "IDX and NPY); default: half of the machine's memory"},
    {"limit", 0, "N", CLI_INTEGER, AT(source.limit), 0, CLI_INTEGER_MAX, WITH_DATA, "read only the first N samples; 0: all"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " train update tune embed predict plot view ",
     "the output file; default model.safetensors for train and update, map.svg for plot, map.html for view, the folder tuning "
     "for tune, standard output (-) for the other commands; embed writes float32 NPY if the name ends in .npy"},
    {"output", 'o', "FOLDER", CLI_TEXT, AT(output), 0, 0, " convert ", "the folder of the shards; created if it is missing"},
    {"shard-size", 0, "SIZE", CLI_TEXT, AT(shards.size), 0, 0, " convert ",
     "bytes in a shard, such as 64M or 1GB; default 256M"},
    {"shard-rows", 0, "N", CLI_INTEGER, AT(shards.rows), 1, CLI_INTEGER_MAX, " convert ",
     "samples in a shard; overrides --shard-size"},
    {"check", 0, NULL, CLI_FLAG, AT(shards.check), 0, 0, " data ",
     "read all files of a folder of shards and compare their checksums"},
    {"n_components", 'd', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"n_exemplars", 'z', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"n_neighbors", 'k', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"random_state", 's', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"n-neighbors", 'k', "N", CLI_INTEGER, AT(n_neighbors), 1, 2147483647.0, " predict eval plot view ",
     "number of neighbors that vote; default: that of the model"},
    {"references", 0, "exemplars|kmeans|training", CLI_TEXT, AT(answer.references), 0, 0, " eval ",
     "points to compare with: exemplars, k-means centers of each class of the train part, or the whole train part; "
     "default: the references of the model"},
    {"centers", 0, "N", CLI_INTEGER, AT(answer.centers), 0, CLI_INTEGER_MAX, " eval ",
     "total number of centers of --references kmeans; default 0: two per class"},
    {"random-state", 's', "N", CLI_INTEGER, AT(answer.random_state), 0, 999999999999999.0, " eval ",
     "seed of --references kmeans; default 0"},
    {"for", 0, "TIME", CLI_TEXT, AT(tune.for_time), 0, 0, " tune ",
     "duration of the search: 90s, 10m, 2h; default 10m, or no limit with --trials"},
    {"trials", 0, "N", CLI_INTEGER, AT(tune.trials), 2, 10000, " tune ", "maximum number of trials; default 200"},
    {"series", 0, "N", CLI_INTEGER, AT(tune.series), 1, 100000, " tune ",
     "draw the N-th series of settings, with the same validation part; use it for parallel searches in a job array; default 1"},
    {"jobs", 0, "N", CLI_INTEGER, AT(jobs), 1, 64, " tune ",
     "number of runs at a time, each in its own process; default one per four cores, at most 8; one on a GPU"},
    {"size", 0, "BYTES", CLI_INTEGER, AT(tune.size), 1, CLI_INTEGER_MAX, " tune ",
     "maximum size of the best model's file; default: no limit"},
    {"latency", 0, "US", CLI_REAL, AT(tune.latency), 1e-6, 1e12, " tune ",
     "maximum microseconds per point of the best model; default: no limit"},
    {"proba", 0, NULL, CLI_FLAG, AT(answer.proba), 0, 0, " predict ", "add a column with the probability of each class"},
    {"winner", 0, NULL, CLI_FLAG, AT(answer.winner), 0, 0, " predict ",
     "add the nearest exemplar (its row in the model, from 0) and its distance in the embedding"},
    {"reliability", 0, NULL, CLI_FLAG, AT(answer.reliability), 0, 0, " eval ",
     "print the accuracy of the labels by their predicted probability (always in --json)"},
    {"reject", 0, "KIND", CLI_TEXT, AT(answer.reject), 0, 0, " eval ",
     "print the error of the most confident points and the threshold that selects them; KIND is probability (of the label), "
     "margin (how much farther the nearest exemplar of another class is) or distance (to the nearest exemplar)"},
    {"keep", 0, "SHARE", CLI_REAL, AT(answer.keep), 0.0001, 1, " eval ",
     "fraction of points that --reject keeps; default: a table of 1, 0.99, 0.95, 0.9, 0.8, 0.7 and 0.5"},
    {"reject", 0, "KIND=VALUE", CLI_TEXT, AT(answer.reject), 0, 0, " predict ",
     "leave the label empty if the probability or margin is below VALUE, or the distance above it; to choose VALUE, use "
     "eval --reject KIND"},
    {"json", 0, NULL, CLI_FLAG, AT(json), 0, 0, " eval info data methods recipes ", "print JSON"},
    {"devices", 0, NULL, CLI_FLAG, AT(list.devices), 0, 0, " info ",
     "list the names for --device, one per line, and why a GPU is not available"},
    {"settings", 0, NULL, CLI_FLAG, AT(list.settings), 0, 0, " methods ", "list the settings instead"},
    {"markdown", 0, NULL, CLI_FLAG, AT(list.markdown), 0, 0, " methods ", "print the table in Markdown"},
    {"errors", 0, NULL, CLI_FLAG, AT(picture.mark_errors), 0, 0, " plot ", "draw misclassified points with a dark edge"},
    {"regions", 0, NULL, CLI_FLAG, AT(picture.regions), 0, 0, " plot ",
     "tint the region in which the k nearest exemplars vote for each class; exact, for at most 1,000 exemplars"},
    {"format", 0, "svg|png|pdf|html", CLI_TEXT, AT(picture.format), 0, 0, " plot ",
     "output format; html is the page of enhope view; default: by the extension of the output file, else svg"},
    {"width", 0, "N", CLI_INTEGER, AT(picture.width), 200, 10000, " plot ", "width in pixels of 1/96 inch; default 760"},
    {"height", 0, "N", CLI_INTEGER, AT(picture.height), 200, 10000, " plot ", "height in pixels of 1/96 inch; default 640"},
    {"scale", 0, "X", CLI_REAL, AT(picture.scale), 0.1, 10, " plot ",
     "pixels of a PNG per pixel of --width and --height; default 1"},
    {"point", 0, "SIZE", CLI_REAL, AT(picture.point), 0.1, 100, " plot ",
     "diameter of a dot in pixels; default 2.2 to 6, smaller for more points; 4 to 6 with more than ten classes; smaller above "
     "60,000 points and in pictures below 480 pixels"},
    {"font", 0, "NAME", CLI_TEXT, AT(picture.font), 0, 0, " plot ", "font of title and legend; default sans-serif"},
    {"font-size", 0, "SIZE", CLI_REAL, AT(picture.font_size), 4, 100, " plot ", "font size in pixels; default 13"},
    {"title", 0, "TEXT", CLI_TEXT, AT(title), 0, 0, " plot view ",
     "title, '' for none; default: the method, the number of points and the error"},
    {"no-legend", 0, NULL, CLI_FLAG, AT(picture.no_legend), 0, 0, " plot ", "omit the legend"},
    {"sample", 0, "N", CLI_INTEGER, AT(page.sample), 1, 10000000, " view ",
     "number of points in the page, the same fraction of every class; default 200000, or all if fewer"},
    {"detail", 0, "N", CLI_INTEGER, AT(page.detail), 1, 10000000, " view ",
     "number of points stored with their sample (image, fields or words), errors first; default 10000"},
    {"bare", 0, NULL, CLI_FLAG, AT(page.bare), 0, 0, " view ", "store no samples in the page"},
    {"history", 0, NULL, CLI_FLAG, AT(page.history), 0, 0, " view ",
     "repeat the training of the model on the train part of the data, and add its animation to the page"},
    {"transpose", 0, NULL, CLI_FLAG, AT(page.transpose), 0, 0, " view ",
     "display images that are stored by columns, as often in MAT files, upright"},
    {"in-place", 0, NULL, CLI_FLAG, AT(training.in_place), 0, 0, " update ", "overwrite MODEL, as -o MODEL does"},
    {"checkpoint", 0, "DIR", CLI_TEXT, AT(training.checkpoint), 0, 0, " train update ",
     "write checkpoints to this folder: every few minutes, and when a signal stops training"},
    {"every", 0, "TIME", CLI_TEXT, AT(training.every), 0, 0, " train update ",
     "time between checkpoints: 90s, 5m, 2h; default 5m; 0s: after every batch"},
    {"keep", 0, "K", CLI_INTEGER, AT(training.keep), 1, 1000000, " train update ", "number of newest checkpoints to keep; default 3"},
    {"resume", 0, NULL, CLI_FLAG, AT(training.resume), 0, 0, " train update ",
     "resume from the newest intact checkpoint in DIR; without one, start from the beginning"},
    {"log", 0, "FILE", CLI_TEXT, AT(training.log), 0, 0, " train update ",
     "write one JSON object per epoch (epoch, loss, valid_error, seconds) to FILE"},
    {"quiet", 'q', NULL, CLI_FLAG, AT(quiet), 0, 0, " train update convert ", "print warnings only, no progress and no summary"},
    {"threads", 0, "N", CLI_INTEGER, AT(compute.threads), 0, 1024, " train update tune embed predict eval plot view convert ",
     "number of threads; 0: all cores"},
    {"device", 0, "cpu|cuda|cuda:N|auto", CLI_TEXT, AT(compute.device), 0, 0, " train update tune embed predict eval plot view ",
     "device to compute on: cpu (default), cuda (an NVIDIA GPU), cuda:N (the N-th GPU, from 0), auto (cuda if available, "
     "else cpu), or ref (slow double precision for tests)"},
    {"precision", 0, "fp32|tf32|bf16", CLI_TEXT, AT(compute.precision), 0, 0, " train update tune embed predict eval plot view ",
     "precision of the inputs of matrix products on a GPU: 24, 16 or 8 bits; default fp32"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), 0, 0, NULL, "describe the command and its options"},
    {"version", 'V', NULL, CLI_FLAG, AT(version), 0, 0, NULL, "print the version"},
    {"man", 0, NULL, CLI_FLAG, AT(list.manual), 0, 0, " help ", "print the manual page in roff"},
    {0},
};
/* clang-format on */

const cli_program cli_self = {"enhope", commands, options};
