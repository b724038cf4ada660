# The paper's tables on tiny data: a cell runs once, a second run reuses it, and an interrupted or failed
# run loses no completed cell.
python3 - <<'END'
import os, random, struct
random.seed(1)
os.makedirs("data/mnist")
def idx(name, shape, values):
    open("data/mnist/" + name, "wb").write(
        struct.pack(">HBB", 0, 8, len(shape)) + b"".join(struct.pack(">I", s) for s in shape) + bytes(values))
for part, n in ("train", 120), ("t10k", 40):
    labels = [i % 4 for i in range(n)]
    idx(f"{part}-images-idx3-ubyte", (n, 4, 4), [min(255, 60 * (j // 4 == c) + random.randrange(90)) for c in labels for j in range(16)])
    idx(f"{part}-labels-idx1-ubyte", (n,), labels)
END
only='mnist/pca/1,mnist/knn/*,mnist/mcml+/1,mnist/dt-mcml/1,mnist/en-hope-10-learned/1,mnist/en-hope-20-learned/1'
# errors depend on the speed of the machine
run() { enhope-reproduce --data data --quick "$@" 2>&1 | sed 's/: [0-9.]* %\(.*\), [0-9.]* s$/: E %\1/'; }
run --only "$only" | grep -v 'left out'
run --only "$only" | grep -v 'left out'
run --only mnist/speed | grep -v 'left out'
ls reproduction-quick/speed
ls reproduction-quick reproduction-quick/models
grep -c '<svg' reproduction-quick/report.html
grep '^## ' reproduction-quick/report.md
# a cell with other settings, or a damaged file, runs again
sed -i 's/"method pca/"method gone/' reproduction-quick/cells/mnist_pca_1.json
echo broken > reproduction-quick/cells/mnist_knn_1.json
run --only "$only" | grep -e 'cells to run' -e mnist
# shares of the cells, as in a job array: together they are all cells; the last command writes the report
for part in 1/2 2/2; do run -o shares --only "$only" --cells $part | grep -v 'left out'; done
ls shares
run -o shares --only "$only" | grep -e 'to run' -e report
run --only "$only" --cells 3/2
run --only "$only" --cells 1of2
# missing data, unknown cells, invalid folders
run --only mnist/pca/1,mnits
run --only ,
enhope-reproduce --data nowhere
enhope-reproduce
ENHOPE_DATA= enhope-reproduce
enhope-reproduce --data data -o "$(printf %01000d 0)"
enhope-reproduce --data data -o data/mnist/train-labels-idx1-ubyte --only mnist/pca/1 2>&1 | grep -v 'left out'
# a signal to the command ends its cells, and no files remain
: > err
enhope-reproduce --data data -o stopped --only mnist/pt-sne/1 --seeds 1 2> err & command=$!
tries=0
until grep -q 'to run' err || [ $tries -ge 300 ]; do sleep 0.1; tries=$((tries + 1)); done
kill $command
wait $command
echo "exit $?"
tail -1 err
ls stopped/cells
# the settings of a cell override those of recipe paper with the target weight of samples
for model in en-hope-10-learned dt-mcml; do
    enhope info reproduction-quick/models/mnist_${model}_1.safetensors --json | python3 -c 'import json, sys
s = json.load(sys.stdin)["settings"]
print(*(f"{name} {s[name]}" for name in sys.argv[1:]))' recipe n_factors n_hidden order normalizer target_weight solver n_epochs batch_size line_searches learning_rate noise patience n_exemplars random_state
done
# the ablation uses the same folder, but not the cells of the paper
run --ablation --only mnist/half/1,mnist/target-nca/1 | grep -v 'left out'
run --only "$only" | grep 'to run'
run --ablation --only mnist/half/1,mnist/target-nca/1 | grep 'to run'
grep -e '^## ' -e '^| baseline' reproduction-quick/accuracy.md | sed 's/[0-9]*\.[0-9]*/E/g'
run --ablation --only mnist/half/1,mnist/pca/1 | grep 'names no cell'
run --only fashion/speed | grep 'names no cell'
for part in '' --ablation; do enhope-reproduce --data data $part --only none 2>&1 | sed -n 's/^rows: //p'; done | tr ' ' '\n' | sort | uniq -d
# the command refers to the program
enhope reproduce --data data
enhope help reproduce
enhope-reproduce --quik 2>&1
enhope-reproduce --version | sed 's/ .*//'
