/* The program enhope: its commands, and the options that each takes. The parser, help, the manual page and ranks read these
 * tables; settings of training are options too, from the library's own table. */
#include <stddef.h>

#include "core/cli.h"

/* clang-format off */
static const cli_command commands[] = {
    {"train", "--data SPEC [-o FILE] [OPTIONS] [SETTINGS]", "train a map on labelled data and save the model",
     "Learns a map from the inputs to a few dimensions in which points of a class lie together, with a few "
     "exemplars of each class, and writes the model as one safetensors file. A part of the data (--validation-fraction) is held "
     "back; the state with the lowest error on it is what is saved, and probabilities are calibrated on it.\n"
     "Progress goes to standard error: a bar on a terminal, a line per epoch otherwise. Ctrl-C finishes the batch, "
     "saves the best model so far and exits with 130; a second Ctrl-C stops at once.\n"
     "With --checkpoint DIR a run that is broken off, by whatever, goes on when the same command is given again with --resume, "
     "and ends in the same bytes. A signal then writes a checkpoint and no model.\n"
     "Under mpirun all ranks train one model together, the same as one process does; rank 0 speaks and writes.",
     "enhope train --data mnist --exemplars learned -z 20 --random-state 1 -o digits.safetensors\n"
     "enhope train --data flowers.csv --label species --scaling standard -o flowers.safetensors\n"
     "enhope train --data mnist --recipe best --checkpoint run --every 5m --resume -o digits.safetensors",
     0, 0, true, CLI_TOGETHER, cmd_train},
    {"update", "MODEL --data SPEC [-o FILE | --in-place] [OPTIONS] [SETTINGS]", "train a model on with new data",
     "Goes on from a model: its map, scaling and exemplars are the start, its history goes on. Classes are matched by name; those "
     "that the model does not know join with exemplars of their own, those that the data does not show stay. Samples without a "
     "label take no part.\n"
     "Settings are those of the model, except n_epochs, batch_size and time_limit. Settings of the map's shape (recipe, method, "
     "n_components, n_factors, n_hidden, order, hidden_layer_sizes, activation, init_scale, n_exemplars, scaling) cannot be changed. MODEL itself is only written to where -o or "
     "--in-place says so.",
     "enhope update digits.safetensors --data new.npz -o more.safetensors\n"
     "enhope update flowers.safetensors --data garden.csv --n-epochs 20 --learning-rate 0.0005 --in-place",
     1, 1, true, CLI_TOGETHER, cmd_update},
    {"tune", "--data SPEC [--for TIME] [-o FOLDER] [OPTIONS] [SETTINGS]", "search for the settings that suit the data",
     "Trains many settings, drawn at random, and judges them on the validation part, which is the same for all; the test "
     "part is never read. Most are trained for a ninth of the epochs (90; --n-epochs says otherwise), the best third of nine "
     "again for a third, the best of these for all. It begins with the recipes fast and best; settings that are said hold "
     "for all trials and are not searched.\n"
     "Prints the runs that no other beats in error and size, or error and speed, and how much the best is better than the "
     "defaults; the folder holds best.safetensors, report.md, and the runs. A search that was stopped goes on where it was "
     "when the same command is given again; one that was not goes on for as long again.",
     "enhope tune --data mnist --for 30m -o digits\n"
     "enhope tune --data flowers.csv --label species --for 90s --size 100000\n"
     "enhope tune --data mnist --device cuda --n-components 10 --trials 40",
     0, 0, true, CLI_ALONE, cmd_tune},
    {"embed", "MODEL --data SPEC [-o FILE] [OPTIONS]", "place points with a trained map",
     "Writes CSV with the columns y1, y2, ... and, where the data is labelled, label; or a float32 array where the "
     "name of the output ends in .npy.",
     "enhope embed digits.safetensors --data mnist --part test -o map.csv", 1, 1, false, CLI_BY_RANK_0, cmd_embed},
    {"predict", "MODEL --data SPEC [-o FILE] [OPTIONS]", "classify points",
     "Writes CSV with the column label; --proba adds a column for each class, --winner the nearest exemplar and the "
     "distance to it. --reject leaves labels empty of which the model is not sure.",
     "enhope predict digits.safetensors --data new.csv --label none --proba -o answers.csv\n"
     "cut -d, -f2- points.csv | enhope predict flowers.safetensors --data - --label none",
     1, 1, false, CLI_BY_RANK_0, cmd_predict},
    {"eval", "MODEL --data SPEC [OPTIONS]", "measure the error on labelled data",
     "Prints the error with its 95 % interval (Wilson's), the error of each class, the confusions and the time per "
     "point; and of the probabilities the negative log-likelihood and the expected calibration error (15 bins). Classes are "
     "matched by name; a class that the model never saw counts as an error.\n"
     "--reject shows what is gained where the model may leave points unanswered. A threshold should be chosen on other data "
     "than that on which its error is reported.\n"
     "Under mpirun ranks share the points, and the figures are those of one process.",
     "enhope eval digits.safetensors --data mnist --part test --json\n"
     "enhope eval digits.safetensors --data mnist --part test --reject probability --reliability",
     1, 1, false, CLI_TOGETHER, cmd_eval},
    {"plot", "MODEL --data SPEC [-o map.svg] [OPTIONS]", "draw the embedding as an SVG, PNG or PDF picture",
     "A dot for each point, coloured by its class (by the predicted one where the data is unlabelled), the more opaque the "
     "denser its class is there, and an open circle for each exemplar. Beyond ten classes colours come again with another mark. "
     "Of more than two dimensions the first two are drawn.",
     "enhope plot digits.safetensors --data mnist --part test -o map.svg\n"
     "enhope plot digits.safetensors --data mnist --regions --errors --font serif --title '' -o map.pdf",
     1, 1, false, CLI_BY_RANK_0, cmd_plot},
    {"view", "MODEL --data SPEC [-o map.html] [OPTIONS]", "write a page that explores the embedding in a browser",
     "One HTML file that needs no network and sends nothing: the map to pan, zoom and select in, every sample with its label, "
     "prediction and winning exemplar, filters, confusions, downloads; and the model itself, which classifies what is drawn, "
     "edited or typed in the page.",
     "enhope view digits.safetensors --data mnist -o map.html\n"
     "enhope view digits.safetensors --data mnist --part both --sample 30000",
     1, 1, false, CLI_BY_RANK_0, cmd_view},
    {"info", "MODEL|--devices [--json]", "tell what is in a model file, or what can compute",
     "Prints the method, the map and its sizes, the classes and their exemplars, every setting, and how training "
     "went; with --devices, what this machine can compute on.",
     "enhope info digits.safetensors\nenhope info --devices", 0, 1, false, CLI_BY_RANK_0, cmd_info},
    {"data", "SPEC [OPTIONS]", "tell what is in a data file",
     "Reads and checks the data as training would, and prints its size, kind, range and classes.",
     "enhope data mnist --part test\nenhope data usps_all.mat --split 8000@1 --json\nenhope data clicks --check", 0, 1, false, CLI_BY_RANK_0, cmd_data},
    {"convert", "--data SPEC -o FOLDER [OPTIONS]", "write data as shards, which can be streamed",
     "Writes NPY files of about 256 MB and shards.json with their checksums; the folder is then the SPEC of the data. CSV, "
     "LIBSVM, IDX and NPY, also .gz, NPZ and synthetic data pass through in constant memory; MAT, NPY in column order and a "
     "--split are read whole first.\n"
     "A conversion that was stopped, by Ctrl-C or otherwise, goes on after its last complete shard when the same command is "
     "given again. enhope data FOLDER --check compares the checksums.",
     "enhope convert --data clicks.csv.gz --label clicked -o clicks\n"
     "enhope convert --data synthetic:digits,n=20000000,seed=1 -o digits\n"
     "enhope train --data clicks --memory 4GB -o clicks.safetensors",
     0, 0, false, CLI_BY_RANK_0, cmd_convert},
    {"methods", "[--settings] [--json] [--markdown]", "list the methods, or the settings",
     "Every method is a choice of a map, a similarity, a normalizer, a target, what points are compared with and a "
     "solver. The table shows what a run with default settings does, and under published which normalizer and solver the "
     "publication has where these differ: --recipe paper, or --normalizer published and --solver, select them.",
     "enhope methods\nenhope methods --settings", 0, 0, false, CLI_BY_RANK_0, cmd_methods},
    {"recipes", "[--json]", "list the recipes: settings that belong together",
     "Prints what each recipe is for, and the settings in which they differ. --recipe NAME of train sets all of a recipe's "
     "settings; options beside it, before or after, change it.",
     "enhope recipes\nenhope train --data mnist --recipe best --n-factors 400 -o digits.safetensors", 0, 0, false, CLI_BY_RANK_0, cmd_recipes},
    {"help", "[COMMAND]", "tell what a command does and takes", "Without a command: the list of commands.",
     "enhope help train", 0, 1, false, CLI_BY_RANK_0, cmd_help},
    {0},
};

#define AT(field)  offsetof(cli_options, field)
#define WITH_DATA  " train update tune embed predict eval plot view data convert "
#define WITH_HALF  " train update tune embed predict eval plot data "
#define WITH_MODEL " embed predict eval plot view "

static const cli_option options[] = {
    {"data", 0, "SPEC", CLI_TEXT, AT(data), 0, 0, WITH_DATA,
     "the data: a file (IDX, CSV, TSV, LIBSVM, NPY, NPZ, MAT; .gz where usual), a folder of MNIST-named IDX files or of "
     "shards, a pair X,y of files, - for CSV on standard input, synthetic:digits,n=6000,seed=1 or "
     "synthetic:blobs,n=600,classes=3,inputs=5,seed=1"},
    {"part", 0, "train|test", CLI_TEXT, AT(source.part), 0, 0, WITH_HALF,
     "the half of a folder, of an .npz file, of synthetic data or of a --split; default: train for train, update, tune and data, "
     "test for the others"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(source.part), 0, 0, " view ",
     "the half of a folder, of an .npz file, of synthetic data or of a --split; both can be told apart; default: test"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(source.part), 0, 0, " convert ",
     "the half of a folder, of an .npz file, of synthetic data or of a --split; both become the folders train and test; "
     "default: both, of synthetic data train"},
    {"split", 0, "N@SEED", CLI_TEXT, AT(source.split), 0, 0, WITH_DATA,
     "shuffle with this seed; the first N samples are the train part, the rest the test part"},
    {"label", 0, "COLUMN", CLI_TEXT, AT(source.label), 0, 0, WITH_DATA,
     "the label column of CSV by name or number (from 1), or none; default: found by its name, else the last"},
    {"variables", 0, "X,y", CLI_TEXT, AT(source.variables), 0, 0, WITH_DATA,
     "the names of values and labels in a MAT or NPZ file; default: found by shape and name"},
    {"memory", 0, "SIZE", CLI_TEXT, AT(source.memory), 0, 0, WITH_DATA,
     "data that takes more than this, as in 800M or 4GB, is streamed from its files where it can be (shards of enhope "
     "convert, plain IDX and NPY); default: half of the machine's memory"},
    {"limit", 0, "N", CLI_INTEGER, AT(source.limit), 0, CLI_WHOLE_MOST, WITH_DATA, "only the first N samples; 0: all"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " train update tune embed predict plot view ",
     "where the result goes: default model.safetensors for train and update, map.svg for plot, map.html for view, the folder tuning for tune, standard output (-) for the "
     "others; embed writes float32 NPY where the name ends in .npy"},
    {"output", 'o', "FOLDER", CLI_TEXT, AT(output), 0, 0, " convert ", "the folder of the shards; it is made where it is missing"},
    {"shard-size", 0, "SIZE", CLI_TEXT, AT(shards.size), 0, 0, " convert ",
     "bytes of a shard, as in 64M or 1GB; default 256M"},
    {"shard-rows", 0, "N", CLI_INTEGER, AT(shards.rows), 1, CLI_WHOLE_MOST, " convert ", "samples of a shard instead"},
    {"check", 0, NULL, CLI_FLAG, AT(shards.check), 0, 0, " data ",
     "of a folder of shards: read all of it and compare its checksums"},
    {"n_components", 'd', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"n_exemplars", 'z', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"n_neighbors", 'k', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"random_state", 's', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"n-neighbors", 'k', "N", CLI_INTEGER, AT(n_neighbors), 1, 2147483647.0, " predict eval plot view ",
     "number of neighbors that vote; default: as in the model"},
    {"references", 0, "exemplars|kmeans|training", CLI_TEXT, AT(answer.references), 0, 0, " eval ",
     "compare with the model's own references (the default: exemplars, where it has them), with per-class k-means centers of "
     "the train part, or with all of the train part"},
    {"centers", 0, "N", CLI_INTEGER, AT(answer.centers), 0, CLI_WHOLE_MOST, " eval ",
     "number of centers of --references kmeans for all classes together; 0, the default: two per class"},
    {"random-state", 's', "N", CLI_INTEGER, AT(answer.random_state), 0, 999999999999999.0, " eval ",
     "seed of --references kmeans; default 0"},
    {"for", 0, "TIME", CLI_TEXT, AT(tune.for_time), 0, 0, " tune ",
     "how long to search: 90s, 10m, 2h; default 10m, or no limit where --trials is said"},
    {"trials", 0, "N", CLI_INTEGER, AT(tune.trials), 2, 10000, " tune ", "how many settings to try, at most; default 200"},
    {"series", 0, "N", CLI_INTEGER, AT(tune.series), 1, 100000, " tune ",
     "draw the N-th series of settings, the same validation part in all: for several searches, as in a job array; default 1"},
    {"jobs", 0, "N", CLI_INTEGER, AT(jobs), 1, 64, " tune ",
     "runs at a time, each a process of its own; default one for every four cores, up to 8; one on a GPU"},
    {"size", 0, "BYTES", CLI_INTEGER, AT(tune.size), 1, CLI_WHOLE_MOST, " tune ",
     "the largest model file that may be the best; default: any"},
    {"latency", 0, "US", CLI_REAL, AT(tune.latency), 1e-6, 1e12, " tune ",
     "the most microseconds a point that the best may take; default: any"},
    {"proba", 0, NULL, CLI_FLAG, AT(answer.proba), 0, 0, " predict ", "add a column with the probability of each class"},
    {"winner", 0, NULL, CLI_FLAG, AT(answer.winner), 0, 0, " predict ",
     "add the nearest exemplar (its row in the model, from 0) and the distance to it in the embedding"},
    {"reliability", 0, NULL, CLI_FLAG, AT(answer.reliability), 0, 0, " eval ",
     "print how often labels are right, by the probability that they are given (--json has it always)"},
    {"reject", 0, "KIND", CLI_TEXT, AT(answer.reject), 0, 0, " eval ",
     "print the error of the surest points by probability (of the label), margin (by which the nearest exemplar of another "
     "class is farther than the label's) or distance (to the nearest exemplar), and the threshold that keeps them"},
    {"keep", 0, "SHARE", CLI_REAL, AT(answer.keep), 0.0001, 1, " eval ",
     "the share of points that --reject keeps; default: a table of 1, 0.99, 0.95, 0.9, 0.8, 0.7 and 0.5"},
    {"reject", 0, "KIND=VALUE", CLI_TEXT, AT(answer.reject), 0, 0, " predict ",
     "leave the label empty where the model is less sure: probability or margin below VALUE, or distance above it; eval "
     "--reject KIND tells which value keeps how many"},
    {"json", 0, NULL, CLI_FLAG, AT(json), 0, 0, " eval info data methods recipes ", "print JSON"},
    {"devices", 0, NULL, CLI_FLAG, AT(list.devices), 0, 0, " info ",
     "print the devices that --device can name instead, one a line; why, where a GPU cannot be used"},
    {"settings", 0, NULL, CLI_FLAG, AT(list.settings), 0, 0, " methods ", "print the table of settings instead"},
    {"markdown", 0, NULL, CLI_FLAG, AT(list.markdown), 0, 0, " methods ", "print the table in Markdown"},
    {"errors", 0, NULL, CLI_FLAG, AT(picture.mark_errors), 0, 0, " plot ", "mark misclassified points by a dark edge"},
    {"regions", 0, NULL, CLI_FLAG, AT(picture.regions), 0, 0, " plot ",
     "tint the regions in which the k nearest exemplars vote for a class; exact, for up to 1,000 of them"},
    {"format", 0, "svg|png|pdf|html", CLI_TEXT, AT(picture.format), 0, 0, " plot ",
     "kind of file, html for the page of enhope view; default: what the name of the output ends in, else svg"},
    {"width", 0, "N", CLI_INTEGER, AT(picture.width), 200, 10000, " plot ", "width of the picture in pixels, 96 an inch; default 760"},
    {"height", 0, "N", CLI_INTEGER, AT(picture.height), 200, 10000, " plot ", "height of the picture in pixels; default 640"},
    {"scale", 0, "X", CLI_REAL, AT(picture.scale), 0.1, 10, " plot ", "PNG: its pixels to one of --width and --height; default 1"},
    {"point", 0, "SIZE", CLI_REAL, AT(picture.point), 0.1, 100, " plot ",
     "diameter of a dot in pixels; default: 2.2 to 6, smaller for more points, 4 to 6 for more than ten classes; less beyond 60,000 points and in "
     "pictures below 480 pixels"},
    {"font", 0, "NAME", CLI_TEXT, AT(picture.font), 0, 0, " plot ", "font of title and legend; default sans-serif"},
    {"font-size", 0, "SIZE", CLI_REAL, AT(picture.font_size), 4, 100, " plot ", "size of its letters in pixels; default 13"},
    {"title", 0, "TEXT", CLI_TEXT, AT(title), 0, 0, " plot view ",
     "title, '' for none; default: the method, the points and the error"},
    {"no-legend", 0, NULL, CLI_FLAG, AT(picture.no_legend), 0, 0, " plot ", "leave the legend out"},
    {"sample", 0, "N", CLI_INTEGER, AT(page.sample), 1, 10000000, " view ",
     "points that are shown, the same share of every class; default: 200000, or all where they are fewer"},
    {"detail", 0, "N", CLI_INTEGER, AT(page.detail), 1, 10000000, " view ",
     "points whose sample (picture, fields, words) the page carries, errors first; default 10000"},
    {"bare", 0, NULL, CLI_FLAG, AT(page.bare), 0, 0, " view ", "carry no samples"},
    {"history", 0, NULL, CLI_FLAG, AT(page.history), 0, 0, " view ",
     "train once more as the model was, on the train part of the data, and let the page play it"},
    {"transpose", 0, NULL, CLI_FLAG, AT(page.transpose), 0, 0, " view ",
     "images are held column by column, as MAT files often hold them, and are shown upright"},
    {"in-place", 0, NULL, CLI_FLAG, AT(training.in_place), 0, 0, " update ", "write the new model over MODEL, as -o MODEL does"},
    {"checkpoint", 0, "DIR", CLI_TEXT, AT(training.checkpoint), 0, 0, " train update ",
     "keep in this folder what is trained so far: every few minutes, and when a signal ends training"},
    {"every", 0, "TIME", CLI_TEXT, AT(training.every), 0, 0, " train update ",
     "time between checkpoints: 90s, 5m, 2h; default 5m; 0s: after every batch"},
    {"keep", 0, "K", CLI_INTEGER, AT(training.kept), 1, 1000000, " train update ", "checkpoints that stay, the newest; default 3"},
    {"resume", 0, NULL, CLI_FLAG, AT(training.resume), 0, 0, " train update ",
     "go on from the newest checkpoint in DIR that is whole; where there is none, begin"},
    {"log", 0, "FILE", CLI_TEXT, AT(training.log), 0, 0, " train update ",
     "write one JSON object per epoch (epoch, loss, valid_error, seconds) to FILE"},
    {"quiet", 'q', NULL, CLI_FLAG, AT(quiet), 0, 0, " train update convert ", "no progress and no summary; warnings are still printed"},
    {"threads", 0, "N", CLI_INTEGER, AT(compute.threads), 0, 1024, " train update tune embed predict eval plot view convert ",
     "number of threads; 0: all cores"},
    {"device", 0, "cpu|cuda|cuda:N|auto", CLI_TEXT, AT(compute.device), 0, 0, " train update tune embed predict eval plot view ",
     "where to compute: cpu (the default), cuda (an NVIDIA GPU), cuda:N (the N-th GPU, from 0), auto (cuda where it can "
     "be used, else cpu); ref is slow double for checks"},
    {"precision", 0, "fp32|tf32|bf16", CLI_TEXT, AT(compute.precision), 0, 0, " train update tune embed predict eval plot view ",
     "how exactly a GPU takes the inputs of matrix products: to 24, 16 or 8 bits; default fp32"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), 0, 0, NULL, "tell what the subcommand does and takes"},
    {"version", 'V', NULL, CLI_FLAG, AT(version), 0, 0, NULL, "print the version"},
    {"man", 0, NULL, CLI_FLAG, AT(list.manual), 0, 0, " help ", "print the manual page in roff"},
    {0},
};
/* clang-format on */

const cli_program cli_self = {"enhope", commands, options};
