/* The program enhope: its commands and their options. The parser, the help, the manual page and the
 * ranks use these tables. The settings of training are options too; the library has their table. */
#include <stddef.h>

#include "core/cli.h"

/* clang-format off */
static const cli_command commands[] = {
    {"train", "--data SPEC [-o FILE] [OPTIONS] [SETTINGS]", "train a model on labeled data",
     "Learns a map from the inputs to a few dimensions in which points of the same class are close together, and a few "
     "exemplars of each class. Writes the model as one safetensors file. A part of the data (--validation-fraction) is held out: the "
     "saved model is that with the lowest error on it, and probabilities are calibrated on it. Tables with few rows are "
     "not divided: cross-validation chooses the map and calibrates it, and all rows train it.\n"
     "Progress is printed to standard error: a bar on a terminal, otherwise some twenty lines, or one line in ten seconds. Ctrl-C completes the batch, "
     "saves the best model so far and exits with 130. It replaces an existing file only if an epoch is complete whose "
     "validation error is not above that of the model in the file, and writes FILE.partial otherwise. A second Ctrl-C "
     "stops immediately.\n"
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
     "Trains models with random settings and compares their errors on the validation part, which is the same for all trials, or "
     "by 5-fold cross-validation if there are fewer than 2,000 samples. Equal errors are compared by their log loss. "
     "The test part is never read. Trials run in brackets of nine: each is trained on a sixteenth of the samples (at least "
     "1,000), the best third on a quarter, and the best of these on all. With --for, runs have as many epochs as fit, and "
     "the end of the time is for the best trials on all samples. The search begins with the recipes fast "
     "and best. Settings on the command line apply to all trials and are not searched.\n"
     "Prints the runs that no other run beats in error and size, or in error and speed, compares the best with the "
     "defaults, and prints why the search ended. The folder contains best.safetensors, report.md, frontier.json and the runs. Run the same "
     "command again to resume an interrupted search, or to extend a completed one by the same time.",
     "enhope tune --data mnist --for 30m -o digits\n"
     "enhope tune --data flowers.csv --label species --for 90s --size 100000\n"
     "enhope tune --data mnist --device cuda --n-components 10 --trials 40",
     0, 0, true, CLI_ALONE, cmd_tune},
    {"cv", "--data SPEC [--folds N] [--repeats N] [OPTIONS] [SETTINGS]", "estimate the error by cross-validation",
     "Divides the data into folds, with equal shares of every class, trains a model on all folds but one, and classifies that "
     "one. Prints the mean of the error, of the balanced accuracy and of the log loss with their standard errors. --repeats "
     "repeats this with other folds and seeds. The settings are those of train.\n"
     "-o writes the prediction of each sample by the model that has not seen it. Each model is trained in its own process.",
     "enhope cv --data flowers.csv --label species\n"
     "enhope cv --data flowers.csv --label species --folds 10 --repeats 3 --method knn\n"
     "enhope cv --data visits.csv --group patient --proba -o predictions.csv",
     0, 0, true, CLI_ALONE, cmd_cv},
    {"embed", "MODEL --data SPEC [-o FILE] [OPTIONS]", "map points to the embedding",
     "Writes the columns y1, y2, ... and, if the data is labeled, label. The ending of the output file chooses the format: "
     ".csv, .tsv, .json, .jsonl, .npy (a float32 array) or .npz (the arrays Y and label); default CSV.",
     "enhope embed digits.safetensors --data mnist --part test -o map.csv", 1, 1, false, CLI_BY_RANK_0, cmd_embed},
    {"predict", "MODEL --data SPEC [-o FILE] [OPTIONS]", "classify points",
     "Writes the columns of --id, or row, the number of the row from 1; then label, and last the columns of --keep. --proba adds a column for each class, --winner adds the "
     "nearest exemplar and the distance to it. --reject leaves the label of uncertain points empty, --cost considers the "
     "cost of errors. The ending of the output file chooses the format: .csv, .tsv, .json, .jsonl, .npy (the labels) or "
     ".npz (the arrays row, label, proba, classes, winner, distance); default CSV.\n"
     "--data - answers each line of standard input as soon as it is complete: CSV, or JSON lines, which are objects with the "
     "names of the columns or arrays.",
     "enhope predict digits.safetensors --data new.csv --label none --proba -o answers.csv\n"
     "cut -d, -f2- points.csv | enhope predict flowers.safetensors --data - --label none",
     1, 1, false, CLI_BY_RANK_0, cmd_predict},
    {"eval", "MODEL --data SPEC [OPTIONS]", "measure the error on labeled data",
     "Prints the error with its 95 % Wilson interval, the balanced accuracy, the mean precision, recall and F1 of the "
     "classes, the area under the ROC curve, the same for each class, the confusion matrix and the time per point. "
     "For the probabilities, prints the log loss and the expected calibration error (15 bins). Classes are "
     "matched by name. Points of a class that the model does not know count as errors; if it knows no class of the data, "
     "that is an error.\n"
     "--cost chooses the labels by the cost of errors instead of by probability alone.\n"
     "--latency adds the time of predictions by the number of rows in a call.\n"
     "--map adds measures of the map: trustworthiness and continuity (Venna, Kaski 2001), the preserved part of the 15 "
     "nearest rows, the accuracy of the 1, 5 and 15 nearest rows in the map, random triplets, and the rank correlation of "
     "distances. Of more than 10,000 rows, a sample is measured. Without labels, only these are printed.\n"
     "--reject prints the error if the least confident points are rejected. Choose a threshold on other data than those on "
     "which you report its error.\n"
     "Under mpirun, the ranks divide the points, and the results are those of one process.",
     "enhope eval digits.safetensors --data mnist --part test --json\n"
     "enhope eval digits.safetensors --data mnist --part test --reject probability --reliability",
     1, 1, false, CLI_TOGETHER, cmd_eval},
    {"importance", "MODEL --data SPEC [OPTIONS]", "measure how much each column contributes",
     "Permutation importance: exchanges the values of a column between the samples and prints by how much the error and the "
     "log loss increase, with the standard deviation over repeats, most important first. Use labeled data that has not "
     "trained the model. Columns that say the same share their importance, so that each looks unimportant.\n"
     "All inputs of a column move together. Images of more than 256 pixels are divided into at most 256 square blocks.",
     "enhope importance flowers.safetensors --data garden.csv\n"
     "enhope importance flowers.safetensors --data garden.csv --repeats 20 --all -o importance.csv",
     1, 1, false, CLI_BY_RANK_0, cmd_importance},
    {"plot", "MODEL --data SPEC [-o map.svg] [OPTIONS]", "draw the embedding as SVG, PNG or PDF",
     "Draws a dot for each point and an open circle for each exemplar. The color shows the class, or the predicted class if the "
     "data is unlabeled. A model that was trained without labels predicts no class. Dots are more opaque where their class is dense. With more than ten classes, colors repeat with "
     "other marks. With more than two dimensions, the first two are drawn.",
     "enhope plot digits.safetensors --data mnist --part test -o map.svg\n"
     "enhope plot digits.safetensors --data mnist --regions --errors --font serif -o map.pdf",
     1, 1, false, CLI_BY_RANK_0, cmd_plot},
    {"view", "MODEL --data SPEC [-o map.html] [OPTIONS]", "write an interactive page of the embedding",
     "Writes one HTML file that needs no network and sends no data. It contains the map to pan, zoom and select in; each sample "
     "with its label, prediction and nearest exemplar; filters, confusions and downloads; and the model, which classifies "
     "samples that are drawn, edited or typed in the page. The page of a model that was trained without labels shows the "
     "clusters of its map, and the labels of the data if it has any.",
     "enhope view digits.safetensors --data mnist -o map.html\n"
     "enhope view digits.safetensors --data mnist --part both --sample 30000",
     1, 1, false, CLI_BY_RANK_0, cmd_view},
    {"serve", "MODEL [--port N] [OPTIONS]", "answer requests over HTTP",
     "Serves predictions by the Open Inference Protocol (version 2, REST) with JSON or binary tensors: POST "
     "/v2/models/NAME/infer, metadata and health below /v2. /metrics has counters in the format of Prometheus, and / the page of enhope view: of the data, or of the "
     "exemplars if there is no --data. Prints the address on standard output.\n"
     "The server has no state, no encryption and no authentication, and accepts connections of this machine only, unless "
     "--host names another address. Put it behind a reverse proxy to make it public.\n"
     "SIGHUP loads the model again beside the old one, which answers until then and stays if the new one cannot be loaded. "
     "SIGTERM and Ctrl-C answer the requests in progress, for at most the time of --timeout, and exit with 0.",
     "enhope serve flowers.safetensors --port 8080 --threads 4 --log access.log\n"
     "curl -d '{\"inputs\":[{\"name\":\"input\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[5.1,3.5,1.4,0.2]}]}' "
     "http://127.0.0.1:8080/v2/models/flowers/infer",
     1, 1, false, CLI_ALONE, cmd_serve},
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
    {"export", "MODEL -o FILE [--check SPEC] [OPTIONS]", "write a model as ONNX, C, JavaScript, WebAssembly or JSON",
     "Writes a model for programs without enhope. The ending of the output file chooses the format: .onnx (opset 17, standard "
     "operators), .c (C99 without dependencies, and its header .h), .js (an ES module), .wasm (compiled with clang) or .json. "
     "Inputs are in the units of the data: scaling is part of the export, and so is the encoding of a table's columns, which "
     "ONNX has for numbers, booleans and categories. Outputs are the label, the probabilities and the embedding.\n"
     "--check runs the exported file on data and compares it with the library: .c with cc (or CC), .js, .json and .wasm with node, "
     ".onnx with onnxruntime of Python or of node. It prints the largest differences, and exits with 1 if labels differ "
     "other than between equally probable classes.",
     "enhope export digits.safetensors -o digits.onnx\n"
     "enhope export digits.safetensors -o digits.c --precision int8 --check mnist",
     1, 1, false, CLI_BY_RANK_0, cmd_export},
    {"quantize", "MODEL --data SPEC -o FILE [--valid-data SPEC] [--max-loss POINTS] [OPTIONS]", "store a model in int8",
     "Writes a model whose weights are 8-bit integers. The file is about a quarter of the size, and prediction on a CPU is "
     "several times faster. Only models of the map hope can be stored so. The data should be that of training: its train part "
     "gives the ranges of inputs and powers. Prints the error of both models on the same data, or on --valid-data, and "
     "writes nothing and exits with 1 if the error increases by more than --max-loss.",
     "enhope quantize digits.safetensors --data mnist -o small.safetensors\n"
     "enhope quantize digits.safetensors --data mnist --valid-data mnist --max-loss 0.05 -o small.safetensors",
     1, 1, false, CLI_BY_RANK_0, cmd_quantize},
    {"compress", "MODEL --data SPEC --size BYTES|--error PERCENT|--operations N -o FILE [OPTIONS] [SETTINGS]",
     "make a small model of a large one",
     "Trains a model of the map hope with exemplars further while weights are removed and the others are rounded to a few "
     "values, and writes a file that all commands read. The data is that of training; errors are measured on its validation "
     "part, which should be that of the model (the same --random-state and --validation-fraction).\n"
     "--size limits the bytes of the file. --error makes the file as small as the validation error allows, in several "
     "compressions. --operations limits the multiplications for a sample, which determine its time: factors and hidden units "
     "are removed. Limits can be combined. If a limit cannot be met, nothing is written and the exit code is 1.\n"
     "The settings are those of the model, except 60 epochs, and at most 0.05 for noise, dropout and adversarial step. The "
     "recipe small trains models for compression.",
     "enhope train --data mnist --recipe small -o digits.safetensors\n"
     "enhope compress digits.safetensors --data mnist --size 64kB -o small.safetensors\n"
     "enhope compress digits.safetensors --data mnist --error 2.5 -o small.safetensors\n"
     "enhope compress digits.safetensors --data mnist --operations 140000 -o fast.safetensors",
     1, 1, true, CLI_TOGETHER, cmd_compress},
    {"methods", "[--settings] [--json] [--markdown]", "list the methods or the settings",
     "A method combines a map, a similarity, a normalizer, a target, reference points and a solver. The table shows the "
     "defaults. The column published shows the normalizer and the solver of the publication if they differ. To select these, "
     "use --recipe paper, or --normalizer published and --solver.",
     "enhope methods\nenhope methods --settings", 0, 0, false, CLI_BY_RANK_0, cmd_methods},
    {"recipes", "[--json]", "list the recipes: tested combinations of settings",
     "Prints the purpose of each recipe and the settings in which the recipes differ. train --recipe NAME applies all settings "
     "of a recipe. Other options, before or after it, override them.",
     "enhope recipes\nenhope train --data mnist --recipe best --n-factors 400 -o digits.safetensors", 0, 0, false, CLI_BY_RANK_0, cmd_recipes},
    {"examples", "FOLDER", "write small data sets to try the commands with",
     "Divides the measurements of 150 iris flowers (Anderson 1935, Fisher 1936) into three files: iris.csv to train on, "
     "test.csv to measure the error on, and new.csv, without the species, to predict. Creates the folder if it is missing, and "
     "replaces no file.",
     "enhope examples .\nenhope train --data iris.csv --label species -o iris.safetensors\n"
     "enhope predict iris.safetensors --data new.csv --proba",
     1, 1, false, CLI_BY_RANK_0, cmd_examples},
    {"completion", "bash|zsh|fish", "print the completion of commands and options for a shell",
     "Prints a script that completes the commands, options and choices of enhope. Packages install it. Otherwise, add the "
     "line of the example to the configuration of the shell, which for bash is ~/.bashrc.",
     "source <(enhope completion bash)\nenhope completion zsh > ~/.zfunc/_enhope\n"
     "enhope completion fish > ~/.config/fish/completions/enhope.fish",
     1, 1, false, CLI_BY_RANK_0, cmd_completion},
    {"help", "[COMMAND] [--man]", "describe a command and its options", "Without a command, prints the list of commands.",
     "enhope help train", 0, 1, false, CLI_BY_RANK_0, cmd_help},
    {0},
};

#define AT(field)  offsetof(cli_options, field)
#define WITH_DATA  " train update tune cv embed predict eval importance plot view serve data convert quantize compress "
#define WITH_READ  " export" WITH_DATA /* the options of reading data, but for --data itself */
#define WITH_PART  " export train update tune cv embed predict eval importance plot serve data quantize compress "

static const cli_option options[] = {
    {"data", 0, "SPEC", CLI_TEXT, AT(data), 0, 0, WITH_DATA,
     "the data: a file (IDX, CSV, TSV, LIBSVM and NPY, each also .gz; NPZ; MAT), a folder of IDX files with "
     "the names of MNIST, a folder of PNG or JPEG images in a folder for each class, a folder of shards, a pair of files X,y, - for CSV on standard input, or "
     "synthetic:digits,n=6000,seed=1 or synthetic:blobs,n=600,classes=3,inputs=5,seed=1"},
    {"part", 0, "train|test", CLI_TEXT, AT(source.part), 0, 0, WITH_PART,
     "the part of a folder, an .npz file, synthetic data or a --split; default train for train, update, tune, cv and data, "
     "test for the other commands"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(source.part), 0, 0, " view ",
     "the part of a folder, an .npz file, synthetic data or a --split; with both, the page distinguishes them; default test"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(source.part), 0, 0, " convert ",
     "the part of a folder, an .npz file, synthetic data or a --split; both writes the folders train and test; "
     "default both, for synthetic data train"},
    {"split", 0, "N@SEED", CLI_TEXT, AT(source.split), 0, 0, WITH_READ,
     "shuffle with this seed; the first N samples are the train part, the others the test part; a fraction, as in 0.8@1, "
     "divides every class in this proportion"},
    {"label", 0, "COLUMN", CLI_TEXT, AT(source.label), 0, 0, WITH_READ,
     "the label column of CSV, by name or number (from 1), or none; default: that of the model; without a model a column called "
     "label, labels, class, target or y, else the last or the first column if it can be a label"},
    {"header", 0, "yes|no", CLI_TEXT, AT(source.table.header), 0, 0, WITH_READ,
     "whether the first line of CSV has the names of the columns; default: detected and printed"},
    {"delimiter", 0, "CHAR|tab", CLI_TEXT, AT(source.table.delimiter), 0, 0, WITH_READ,
     "the delimiter of CSV; default: the most frequent of comma, semicolon and tab in the first line"},
    {"decimal", 0, ".|,", CLI_TEXT, AT(source.table.decimal), 0, 0, WITH_READ,
     "the decimal point of CSV; default: a point, or a comma if the delimiter is another character and the numbers have only commas"},
    {"ignore", 0, "COLUMNS", CLI_TEXT, AT(source.table.ignore), 0, 0, WITH_READ,
     "columns of CSV that are not used: names or numbers, separated by commas"},
    {"id", 0, "COLUMNS", CLI_TEXT, AT(source.table.id), 0, 0, WITH_READ,
     "columns of CSV that identify a row; they are not used as inputs, and predict copies them to its output"},
    {"categorical", 0, "COLUMNS", CLI_TEXT, AT(source.table.categorical), 0, 0, WITH_READ,
     "columns of CSV whose numbers are categories"},
    {"numeric", 0, "COLUMNS", CLI_TEXT, AT(source.table.numeric), 0, 0, WITH_READ,
     "columns of CSV that are numbers, also if they look like ids"},
    {"missing", 0, "impute|drop|error", CLI_TEXT, AT(source.table.missing), 0, 0, WITH_READ,
     "missing values of CSV (empty, NA, N/A, NaN, null, none, ?, - or .): impute uses the median and adds an input that "
     "marks them; drop removes the rows; default impute"},
    {"skip-bad", 0, NULL, CLI_FLAG, AT(source.table.skip_bad), 0, 0, WITH_READ,
     "skip rows of CSV that cannot be read, and print what is wrong with them"},
    {"keep", 0, "COLUMNS", CLI_TEXT, AT(source.table.keep), 0, 0, " predict view ",
     "columns of CSV that are copied to the output, or to the page"},
    {"weight", 0, "COLUMN", CLI_TEXT, AT(source.table.weight), 0, 0, " train update tune cv ",
     "a column of CSV with the weights of the samples, numbers from 0, for methods with exemplars; weight 2 counts like two "
     "such samples, weight 0 leaves the sample out; the column is not an input"},
    {"classes", 0, "FILE", CLI_TEXT, AT(source.classes), 0, 0, WITH_READ,
     "the names of classes whose labels are numbers: one name per line, for the classes 0, 1, ..., or lines NUMBER,NAME"},
    {"variables", 0, "X,y", CLI_TEXT, AT(source.variables), 0, 0, WITH_READ,
     "the names of the values and the labels in a MAT or NPZ file; default: detected by shape and name"},
    {"memory", 0, "SIZE", CLI_TEXT, AT(source.memory), 0, 0, WITH_READ,
     "stream data larger than SIZE, such as 800M or 4GB, from its files if possible (shards of enhope convert, uncompressed "
     "IDX and NPY); default: half of the machine's memory"},
    {"limit", 0, "N", CLI_INTEGER, AT(source.limit), 0, CLI_INTEGER_MAX, " importance ",
     "use at most N labeled samples, chosen at random; default 10000"},
    {"limit", 0, "N", CLI_INTEGER, AT(source.limit), 0, CLI_INTEGER_MAX,
     " export train update tune cv embed predict eval plot view serve data convert quantize compress ", "read only the first N samples; 0: all"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " train update tune embed predict plot view ",
     "the output file; default model.safetensors for train and update, map.svg for plot, map.html for view, the folder tuning "
     "for tune, CSV on standard output (-) for the other commands"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " export ", "the output file: .onnx, .c, .js, .wasm or .json"},
    {"check", 0, "SPEC", CLI_TEXT, AT(data), 0, 0, " export ",
     "compare the exported model with the library on this data, given as for --data of eval; the first 1000 samples, or as "
     "many as --limit"},
    {"name", 0, "NAME", CLI_TEXT, AT(deploy.name), 0, 0, " export ",
     "prefix of the functions of C, and name of the ONNX graph; default: the name of the output file"},
    {"encoded", 0, NULL, CLI_FLAG, AT(deploy.encoded), 0, 0, " export ",
     "take the encoded inputs (those of enhope info) instead of the columns of the training data"},
    {"precision", 0, "float32|int8", CLI_TEXT, AT(deploy.precision), 0, 0, " export ",
     "arithmetic of the exported model; default: int8 if the model is stored in int8, else float32"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " quantize compress ", "the output file, a model"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " cv ",
     "write the fold, the label and the prediction of each sample: .csv, .tsv, .json, .jsonl or .npz"},
    {"output", 'o', "FOLDER", CLI_TEXT, AT(output), 0, 0, " convert ", "the folder of the shards; created if it is missing"},
    {"shard-size", 0, "SIZE", CLI_TEXT, AT(shards.size), 0, 0, " convert ",
     "bytes in a shard, such as 64M or 1GB; default 256M"},
    {"shard-rows", 0, "N", CLI_INTEGER, AT(shards.rows), 1, CLI_INTEGER_MAX, " convert ",
     "samples in a shard; overrides --shard-size"},
    {"check", 0, NULL, CLI_FLAG, AT(shards.check), 0, 0, " data ",
     "read all files of a folder of shards and compare their checksums"},
    {"n_components", 'd', "N", CLI_SETTING, 0, 0, 0, " train update tune cv compress ", NULL},
    {"n_exemplars", 'z', "N", CLI_SETTING, 0, 0, 0, " train update tune cv compress ", NULL},
    {"n_neighbors", 'k', "N", CLI_SETTING, 0, 0, 0, " train update tune cv compress ", NULL},
    {"random_state", 's', "N", CLI_SETTING, 0, 0, 0, " train update tune cv compress ", NULL},
    {"n-neighbors", 'k', "N", CLI_INTEGER, AT(n_neighbors), 1, 2147483647.0, " predict eval plot view export ",
     "number of neighbors that vote; default: that of the model"},
    {"references", 0, "exemplars|kmeans|training", CLI_TEXT, AT(answer.references), 0, 0, " eval ",
     "points to compare with: exemplars, k-means centers of each class of the train part, or the whole train part; "
     "default: the references of the model"},
    {"map", 0, "rows|training", CLI_TEXT, AT(answer.map), 0, 0, " eval ",
     "print measures of the map; neighbors of a row are the other rows of the data, or rows of its train part"},
    {"centers", 0, "N", CLI_INTEGER, AT(answer.centers), 0, CLI_INTEGER_MAX, " eval ",
     "total number of centers of --references kmeans; default 0: two per class"},
    {"random-state", 's', "N", CLI_INTEGER, AT(answer.random_state), 0, 999999999999999.0, " eval ",
     "seed of --references kmeans and --map; default 0"},
    {"for", 0, "TIME", CLI_TEXT, AT(tune.for_time), 0, 0, " tune ",
     "duration of the search: 90s, 10m, 2h; default 10m, or no limit with --trials"},
    {"trials", 0, "N", CLI_INTEGER, AT(tune.trials), 2, 10000, " tune ", "maximum number of trials; default 200"},
    {"series", 0, "N", CLI_INTEGER, AT(tune.series), 1, 100000, " tune ",
     "draw the N-th series of settings, with the same validation part; use it for parallel searches in a job array; default 1"},
    {"jobs", 0, "N", CLI_INTEGER, AT(compute.jobs), 1, 64, " tune ",
     "number of runs at a time, each in its own process; default one per four cores, at most 8; one on a GPU"},
    {"size", 0, "BYTES", CLI_INTEGER, AT(tune.size), 1, CLI_INTEGER_MAX, " tune ",
     "maximum size of the best model's file; default: no limit"},
    {"latency", 0, "US", CLI_REAL, AT(tune.latency), 1e-6, 1e12, " tune ",
     "maximum microseconds of the best model to classify one row; default: no limit"},
    {"folds", 0, "N", CLI_INTEGER, AT(measure.folds), 2, 1000000, " cv ", "number of folds; default 5"},
    {"repeats", 0, "N", CLI_INTEGER, AT(measure.repeats), 1, 1000, " cv ",
     "repeat the cross-validation N times, with other folds and seeds; default 1"},
    {"repeats", 0, "N", CLI_INTEGER, AT(measure.repeats), 1, 1000, " importance ",
     "number of permutations of each column; default 5"},
    {"all", 0, NULL, CLI_FLAG, AT(measure.all), 0, 0, " importance ", "print all columns instead of the first 20"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " importance ", "write the table of all columns as CSV"},
    {"random-state", 's', "N", CLI_INTEGER, AT(answer.random_state), 0, 999999999999999.0, " importance ",
     "seed of the permutations and of the choice of samples; default 0"},
    {"group", 0, "COLUMN", CLI_TEXT, AT(measure.group), 0, 0, " cv ",
     "keep samples with the same text in this column of CSV in one fold; the column is not an input"},
    {"verbose", 0, NULL, CLI_FLAG, AT(measure.verbose), 0, 0, " cv ", "print the results of each fold"},
    {"jobs", 0, "N", CLI_INTEGER, AT(compute.jobs), 1, 64, " cv ",
     "number of models to train at a time, each in its own process; default one per core, at most 8; one for large data "
     "and on a GPU"},
    {"proba", 0, NULL, CLI_FLAG, AT(answer.proba), 0, 0, " predict cv ", "add a column with the probability of each class"},
    {"winner", 0, NULL, CLI_FLAG, AT(answer.winner), 0, 0, " predict ",
     "add the nearest exemplar (its row in the model, from 0) and its distance in the embedding"},
    {"reliability", 0, NULL, CLI_FLAG, AT(answer.reliability), 0, 0, " eval ",
     "print the accuracy of the labels by their predicted probability (always in --json)"},
    {"latency", 0, NULL, CLI_FLAG, AT(answer.latency), 0, 0, " eval ",
     "print the median and the 99th percentile of the time of a prediction, and the rows per second, for calls of 1, 10, "
     "100, 1000 and all rows; on the CPU"},
    {"reject", 0, "KIND", CLI_TEXT, AT(answer.reject), 0, 0, " eval ",
     "print the error of the most confident points and the threshold that selects them; KIND is probability (of the label), "
     "margin (how much farther the nearest exemplar of another class is) or distance (to the nearest exemplar)"},
    {"keep", 0, "SHARE", CLI_REAL, AT(answer.keep), 0.0001, 1, " eval ",
     "fraction of points that --reject keeps; default: a table of 1, 0.99, 0.95, 0.9, 0.8, 0.7 and 0.5"},
    {"reject", 0, "KIND=VALUE", CLI_TEXT, AT(answer.reject), 0, 0, " predict ",
     "leave the label empty if the probability or margin is below VALUE, or the distance above it; to choose VALUE, use "
     "eval --reject KIND"},
    {"cost", 0, "NAME=C,...", CLI_TEXT, AT(answer.cost), 0, 0, " predict eval ",
     "cost of a point of class NAME that gets another label; the label is the class with the largest product of "
     "probability and cost; default 1 for each class"},
    {"json", 0, NULL, CLI_FLAG, AT(json), 0, 0, " train update tune eval cv importance quantize info data methods recipes compress ", "print the result as JSON"},
    {"devices", 0, NULL, CLI_FLAG, AT(list.devices), 0, 0, " info ",
     "list the names for --device, one per line, and why a GPU is not available"},
    {"settings", 0, NULL, CLI_FLAG, AT(list.settings), 0, 0, " methods ", "list the settings instead"},
    {"markdown", 0, NULL, CLI_FLAG, AT(list.markdown), 0, 0, " methods ", "print the table in Markdown"},
    {"errors", 0, NULL, CLI_FLAG, AT(picture.mark_errors), 0, 0, " plot ", "draw misclassified points with a dark edge"},
    {"regions", 0, NULL, CLI_FLAG, AT(picture.regions), 0, 0, " plot ",
     "tint the region in which the k nearest exemplars vote for each class; exact, for at most 1,000 exemplars"},
    {"format", 0, "csv|tsv|json|jsonl", CLI_TEXT, AT(answer.format), 0, 0, " predict embed ",
     "output format; default: by the extension of the output file, else csv"},
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
    {"title", 0, "TEXT", CLI_TEXT, AT(picture.title), 0, 0, " plot view ",
     "title, '' for none; default: the method, the number of points and the error"},
    {"labels", 0, "auto|on|off", CLI_TEXT, AT(picture.labels), 0, 0, " plot ",
     "names of classes on the map: auto (default) writes them instead of the legend if each has a place, on beside the "
     "legend"},
    {"no-legend", 0, NULL, CLI_FLAG, AT(picture.no_legend), 0, 0, " plot ", "omit the legend"},
    {"sample", 0, "N", CLI_INTEGER, AT(page.sample), 1, 10000000, " view serve ",
     "number of points in the page, the same fraction of every class; default 200000, or all if fewer"},
    {"detail", 0, "N", CLI_INTEGER, AT(page.detail), 1, 10000000, " view serve ",
     "number of points stored with their sample (image, fields or words), errors first; default 10000"},
    {"bare", 0, NULL, CLI_FLAG, AT(page.bare), 0, 0, " view ", "store no samples in the page"},
    {"history", 0, NULL, CLI_FLAG, AT(page.history), 0, 0, " view ",
     "repeat the training of the model on the train part of the data, and add its animation to the page"},
    {"transpose", 0, NULL, CLI_FLAG, AT(page.transpose), 0, 0, " view ",
     "display images that are stored by columns, as often in MAT files, upright"},
    {"in-place", 0, NULL, CLI_FLAG, AT(training.in_place), 0, 0, " update ", "overwrite MODEL, as -o MODEL does"},
    {"valid-data", 0, "FILE", CLI_TEXT, AT(training.valid_data), 0, 0, " train update ",
     "the validation part, with the same columns and classes as the data; default: a fraction of the data "
     "(--validation-fraction)"},
    {"valid-data", 0, "SPEC", CLI_TEXT, AT(training.valid_data), 0, 0, " quantize ",
     "labeled data on which both errors are measured, its test part if it has parts; default: the data itself"},
    {"size", 0, "BYTES", CLI_TEXT, AT(deploy.size), 0, 0, " compress ",
     "maximum size of the file, such as 64kB or 27000; 1 kB is 1000 bytes"},
    {"error", 0, "PERCENT", CLI_REAL, AT(deploy.error), 0, 99, " compress ",
     "maximum validation error; the file becomes as small as it allows"},
    {"operations", 0, "N", CLI_INTEGER, AT(deploy.operations), 0, CLI_INTEGER_MAX, " compress ",
     "maximum number of multiplications for a sample; factors and hidden units are left in multiples of 16"},
    {"bits", 0, "N", CLI_INTEGER, AT(deploy.bits), 4, 8, " compress ",
     "bits of a weight: it has one of 2^N values, times a scale of its column; default 5"},
    {"max-loss", 0, "POINTS", CLI_TEXT, AT(deploy.max_loss), 0, 0, " quantize ",
     "largest increase of the error in percentage points; default 0.1, or one sample if that is more"},
    {"checkpoint", 0, "DIR", CLI_TEXT, AT(training.checkpoint), 0, 0, " train update ",
     "write checkpoints to this folder: every few minutes, and when a signal stops training"},
    {"every", 0, "TIME", CLI_TEXT, AT(training.every), 0, 0, " train update ",
     "time between checkpoints: 90s, 5m, 2h; default 5m; 0s: after every batch"},
    {"keep", 0, "K", CLI_INTEGER, AT(training.keep), 1, 1000000, " train update ", "number of newest checkpoints to keep; default 3"},
    {"resume", 0, NULL, CLI_FLAG, AT(training.resume), 0, 0, " train update ",
     "resume from the newest intact checkpoint in DIR; without one, start from the beginning"},
    {"log", 0, "FILE", CLI_TEXT, AT(training.log), 0, 0, " train update ",
     "write one JSON object per epoch (epoch, loss, valid_error, seconds) to FILE"},
    {"port", 0, "N", CLI_TEXT, AT(serve.port), 0, 0, " serve ", "the port; 0: one that is free; default 8080"},
    {"host", 0, "ADDRESS", CLI_TEXT, AT(serve.host), 0, 0, " serve ",
     "the IP address to listen on; 0.0.0.0 and :: are all of this machine; default 127.0.0.1"},
    {"name", 0, "NAME", CLI_TEXT, AT(serve.name), 0, 0, " serve ",
     "the name of the model in paths; default: that of the file, without its ending"},
    {"log", 0, "FILE", CLI_TEXT, AT(serve.log), 0, 0, " serve ",
     "append a line for each request to FILE, or - for standard output: address, time, request, code, bytes, seconds; SIGHUP "
     "opens the file again"},
    {"max-body", 0, "SIZE", CLI_TEXT, AT(serve.max_body), 0, 0, " serve ",
     "maximum size of the body of a request, such as 16M; default 16M"},
    {"timeout", 0, "TIME", CLI_TEXT, AT(serve.timeout), 0, 0, " serve ",
     "maximum time of a request, from its header to the end of the answer, and of an idle connection: 30s, 5m; default 30s"},
    {"connections", 0, "N", CLI_INTEGER, AT(serve.connections), 1, 100000, " serve ",
     "maximum number of connections; default 1000"},
    {"quiet", 'q', NULL, CLI_FLAG, AT(quiet), 0, 0, " train update convert compress ", "print warnings only, no progress and no summary; --json still prints the result"},
    {"threads", 0, "N", CLI_INTEGER, AT(compute.threads), 0, 1024, " train update tune cv embed predict eval importance plot view serve convert quantize compress ",
     "number of threads; 0: all cores"},
    {"device", 0, "cpu|cuda|cuda:N|auto", CLI_TEXT, AT(compute.device), 0, 0, " train update tune cv embed predict eval importance plot view compress ",
     "device to compute on: cpu (default), cuda (an NVIDIA GPU), cuda:N (the N-th GPU, from 0), auto (cuda if available, "
     "else cpu), or ref (slow double precision for tests)"},
    {"precision", 0, "fp32|tf32|bf16", CLI_TEXT, AT(compute.precision), 0, 0, " train update tune cv compress ",
     "precision of the inputs of matrix products on a GPU: 24, 16 or 8 bits; default fp32"},
    {"precision", 0, "float32|int8|fp32|tf32|bf16", CLI_TEXT, AT(compute.precision), 0, 0, " embed predict eval importance plot view ",
     "arithmetic of predictions on the CPU: float32, or int8, which is faster; default: that of the model. On a GPU: fp32 "
     "(default), tf32 or bf16, as in train"},
    {"precision", 0, "float32|int8", CLI_TEXT, AT(compute.precision), 0, 0, " serve ",
     "arithmetic of predictions; default: int8 if the model is stored in int8, else float32"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), 0, 0, NULL, "describe the command and its options"},
    {"version", 'V', NULL, CLI_FLAG, AT(version), 0, 0, NULL, "print the version"},
    {"man", 0, NULL, CLI_FLAG, AT(list.manual), 0, 0, " help ", "print the manual page, or that of a command, in roff"},
    {0},
};
/* clang-format on */

static const cli_group groups[] = {
    {"start", " examples data train eval predict "},
    {"look at a model", " embed plot view importance info "},
    {"improve a model", " tune cv update recipes methods "},
    {"deploy a model", " serve export quantize compress convert "},
    {"about", " help completion "},
    {0},
};

const cli_program cli_self = {"enhope", commands, options, groups,
                              " data label part output recipe n_components random_state threads device json "};
