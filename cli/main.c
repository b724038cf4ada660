/* enhope: the command. A table of subcommands and the way to them. */
#define _DEFAULT_SOURCE 1
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

/* clang-format off */
static const cli_command table[] = {
    {"train", "--data SPEC [-o FILE] [OPTIONS] [SETTINGS]", "train a map on labelled data and save the model",
     "Learns a map from the inputs to a few dimensions in which points of a class lie together, with a few "
     "exemplars of each class, and writes the model as one safetensors file. A part of the data (--valid) is held "
     "back; the state with the lowest error on it is what is saved, and probabilities are calibrated on it.\n"
     "Progress goes to standard error: a bar on a terminal, a line per epoch otherwise. Ctrl-C finishes the batch, "
     "saves the best model so far and exits with 130; a second Ctrl-C stops at once.\n"
     "With --checkpoint DIR a run that is broken off, by whatever, goes on when the same command is given again with --resume, "
     "and ends in the same bytes. A signal then writes a checkpoint and no model.\n"
     "Under mpirun all ranks train one model together, the same as one process does; rank 0 speaks and writes.",
     "enhope train --data mnist --exemplars learned -z 20 --seed 1 -o digits.safetensors\n"
     "enhope train --data flowers.csv --label species --scale standard -o flowers.safetensors\n"
     "enhope train --data mnist --recipe best --checkpoint run --every 5m --resume -o digits.safetensors",
     0, 0, true, CLI_TOGETHER, cmd_train},
    {"update", "MODEL --data SPEC [-o FILE | --in-place] [OPTIONS] [SETTINGS]", "train a model on with new data",
     "Goes on from a model: its map, scaling and exemplars are the start, its history goes on. Classes are matched by name; those "
     "that the model does not know join with exemplars of their own, those that the data does not show stay. Samples without a "
     "label take no part.\n"
     "Settings are the model's, but for epochs, batch and time; those that give the map its shape (method, dims, factors, hidden, "
     "order, layers, unit, start, z, scale, and recipe) cannot be changed. MODEL itself is only written to where -o or "
     "--in-place says so.",
     "enhope update digits.safetensors --data new.npz -o more.safetensors\n"
     "enhope update flowers.safetensors --data garden.csv --epochs 20 --rate 0.0005 --in-place",
     1, 1, true, CLI_TOGETHER, cmd_update},
    {"tune", "--data SPEC [--for TIME] [-o FOLDER] [OPTIONS] [SETTINGS]", "search for the settings that suit the data",
     "Trains many settings, drawn at random, and judges them on the validation part, which is the same for all; the test "
     "part is never read. Most are trained for a ninth of the epochs (90; --epochs says otherwise), the best third of nine "
     "again for a third, the best of these for all. It begins with the recipes fast and best; settings that are said hold "
     "for all trials and are not searched.\n"
     "Prints the runs that no other beats in error and size, or error and speed, and how much the best is better than the "
     "defaults; the folder holds best.safetensors, report.md, and the runs. A search that was stopped goes on where it was "
     "when the same command is given again; one that was not goes on for as long again.",
     "enhope tune --data mnist --for 30m -o digits\n"
     "enhope tune --data flowers.csv --label species --for 90s --size 100000\n"
     "enhope tune --data mnist --device cuda --dims 10 --trials 40",
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
    {"reproduce", "--data FOLDER [-o FOLDER] [OPTIONS]", "run the paper's tables and figure, and write a report",
     "Trains every method of the en-HOPE paper on MNIST, USPS, 20 Newsgroups and VGG features, and the recipes on these and "
     "on Fashion-MNIST, as far as the folder holds them (mnist, usps/usps_all.mat, 20news/20news_w100.mat, mnist-vgg512, "
     "fashion-mnist; default: the folder that ENHOPE_DATA names), times classification against our exact kNN, faiss and "
     "scikit-learn where these are installed, and writes report.md and report.html with the paper's figures beside ours. "
     "With --ablation it trains the recipes, and changes one choice of the recipe best at a time, into accuracy.md and "
     "accuracy.html.\n"
     "A cell is one row on one data set with one seed. Cells that are done are kept in the output folder: a run that was "
     "stopped, by Ctrl-C or otherwise, goes on where it was. In full it takes days on two cores, a quarter of an hour on a "
     "large GPU (--device cuda --jobs 12); times of classification are the cpu's always.",
     "enhope reproduce --data data --quick\n"
     "enhope reproduce --data data --only 'mnist/en-hope-*,usps/snc/1'",
     0, 0, false, CLI_ALONE, cmd_reproduce},
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
     "Every method is a choice of a map, a similarity, a normaliser, a target, what points are compared with and a "
     "solver. The table shows what a run with default settings does, and under published which normaliser and solver the "
     "publication has where these differ: --recipe paper, or --form published and --solver, select them.",
     "enhope methods\nenhope methods --settings", 0, 0, false, CLI_BY_RANK_0, cmd_methods},
    {"recipes", "[--json]", "list the recipes: settings that belong together",
     "Prints what each recipe is for, and the settings in which they differ. --recipe NAME of train sets all of a recipe's "
     "settings; options beside it, before or after, change it.",
     "enhope recipes\nenhope train --data mnist --recipe best --factors 400 -o digits.safetensors", 0, 0, false, CLI_BY_RANK_0, cmd_recipes},
    {"help", "[COMMAND]", "tell what a command does and takes", "Without a command: the list of commands.",
     "enhope help train", 0, 1, false, CLI_BY_RANK_0, cmd_help},
};
/* clang-format on */
enum { COMMANDS = sizeof table / sizeof *table };

const cli_command *cli_command_get(int i)
{
    return i >= 0 && i < COMMANDS ? &table[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(table[i].name, name)) return &table[i];
    return NULL;
}

static int print_version(void)
{
    printf("enhope %s\n", enhope_version());
    return 0;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        if (!cli_rank()) cli_help_overview(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) return print_version();
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        cli_help_overview(stdout);
        return 0;
    }
    const cli_command *command = cli_command_find(name);
    if (!command) {
        char meant[64];
        cli_suggest_command(name, meant, sizeof meant);
        cli_error("unknown command '%s'%s", name, *meant ? meant : "; 'enhope help' lists the commands");
        return CLI_USAGE;
    }
    if (cli_ranks() > 1 && command->sharing == CLI_ALONE)
        return cli_usage_error(command, "it runs in one process, not under mpirun: start it once, or as a job array");
    if (cli_rank() && command->sharing == CLI_BY_RANK_0) return 0; /* rank 0 does it */
    cli_options options = {0};
    int code = cli_options_parse(command, argc - 2, argv + 2, &options);
    if (!code && options.help)
        cli_help_command(stdout, command);
    else if (!code && options.version)
        code = print_version();
    else if (!code)
        code = command->run(&options);
    cli_options_free(&options);
    return code;
}

int main(int argc, char **argv)
{
    cli_threads_begin();
    /* Closed pipes and file size limits come back as errors of write, so that they are told and nothing is lost. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = cli_ranks_join();
    if (!code) code = run(argc, argv);
    return cli_ranks_leave(cli_stdout_finish(code));
}
