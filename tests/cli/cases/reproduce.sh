# The paper's tables on a tiny set: cells are made once, a second run keeps them, a stopped or failed one loses nothing.
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
# (machines differ in what they train within the time of a quick run)
run() { enhope-reproduce --data data --quick "$@" 2>&1 | sed 's/: [0-9.]* %\(.*\), [0-9.]* s$/: E %\1/'; }
run --only "$only" | grep -v 'left out'
run --only "$only" | grep -v 'left out'
run --only mnist/speed | grep -v 'left out'
ls reproduction-quick/speed
ls reproduction-quick reproduction-quick/models
grep -c '<svg' reproduction-quick/report.html
grep '^## ' reproduction-quick/report.md
# what was done with other settings, or is no cell, is done again
sed -i 's/"method pca/"method gone/' reproduction-quick/cells/mnist_pca_1.json
echo broken > reproduction-quick/cells/mnist_knn_1.json
run --only "$only" | grep -e 'cells to do' -e mnist
# a share of the cells, as in a job array: the shares together are all cells, and only the last command writes the report
for part in 1/2 2/2; do run -o shares --only "$only" --cells $part | grep -v 'left out'; done
ls shares
run -o shares --only "$only" | grep -e 'to do' -e report
run --only "$only" --cells 3/2
run --only "$only" --cells 1of2
# nothing there, nothing meant
run --only mnist/pca/1,mnits
run --only ,
enhope-reproduce --data nowhere
enhope-reproduce
ENHOPE_DATA= enhope-reproduce
enhope-reproduce --data data -o "$(printf %01000d 0)"
enhope-reproduce --data data -o data/mnist/train-labels-idx1-ubyte --only mnist/pca/1 2>&1 | grep -v 'left out'
# a signal to the command alone ends its cells, and nothing stays behind
: > err
enhope-reproduce --data data -o stopped --only mnist/pt-sne/1 --seeds 1 2> err & command=$!
tries=0
until grep -q 'to do' err || [ $tries -ge 300 ]; do sleep 0.1; tries=$((tries + 1)); done
kill $command
wait $command
echo "exit $?"
tail -1 err
ls stopped/cells
# a cell's settings change the paper's, with samples that weigh the same unless the cell says otherwise
for model in en-hope-10-learned dt-mcml; do
    enhope info reproduction-quick/models/mnist_${model}_1.safetensors --json | python3 -c 'import json, sys
s = json.load(sys.stdin)["settings"]
print(*(f"{name} {s[name]}" for name in sys.argv[1:]))' recipe n_factors n_hidden order normalizer target_weight solver n_epochs batch_size line_searches learning_rate noise patience n_exemplars random_state
done
# the ablation shares the folder, and takes nothing from the paper's cells
run --ablation --only mnist/half/1,mnist/target-nca/1 | grep -v 'left out'
run --only "$only" | grep 'to do'
run --ablation --only mnist/half/1,mnist/target-nca/1 | grep 'to do'
grep -e '^## ' -e '^| baseline' reproduction-quick/accuracy.md | sed 's/[0-9]*\.[0-9]*/E/g'
run --ablation --only mnist/half/1,mnist/pca/1 | grep 'names no cell'
run --only fashion/speed | grep 'names no cell'
for part in '' --ablation; do enhope-reproduce --data data $part --only none 2>&1 | sed -n 's/^rows: //p'; done | tr ' ' '\n' | sort | uniq -d
# the command names the program
enhope reproduce --data data
enhope help reproduce
enhope-reproduce --quik 2>&1
enhope-reproduce --version | sed 's/ .*//'
