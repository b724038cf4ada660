# Continued training: new classes are added, unlabeled samples are ignored, MODEL is overwritten only on
# request.
try() { "$@"; echo "exit $?"; }
update() { enhope update "$@" --n-epochs 3 --quiet; }
make() { # SEED CLASSES: lines of two inputs and a class
    awk -v OFS=, -v seed="$1" -v classes="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < 120; i++) { c = i % classes; print 3 * (c % 2) + rand(), 3 * int(c / 2) + rand(), c }
    }'
}
make 1 2 > old.csv
make 2 3 > new.csv
enhope train --data old.csv --n-factors 8 --n-hidden 6 --n-epochs 20 --random-state 3 --quiet -o old.safetensors
cp old.safetensors kept.safetensors
try update old.safetensors --data new.csv -o new.safetensors
cmp old.safetensors kept.safetensors && echo "the old model is unchanged"
enhope info new.safetensors | grep -E 'classes|exemplar|epochs|history'
enhope eval new.safetensors --data new.csv --json |
    python3 -c 'import json, sys; print("few errors:", json.load(sys.stdin)["errors"] < 12)'

enhope update old.safetensors --data new.csv --n-epochs 3 --json -q -o new.json.safetensors |
    python3 -c 'import json, sys; u = json.load(sys.stdin); print(u["epochs"], u["earlier_epochs"], u["references"], u["model"])'
cmp new.safetensors new.json.safetensors && rm new.json.safetensors

# samples with an empty, NaN or -1 label are ignored
sed 's/,[0-9]$/,/' old.csv > empty.csv
{ cat new.csv; cat empty.csv; } > some.csv
enhope update old.safetensors --data some.csv --n-epochs 3 --limit 130 -o some.safetensors > out 2> err
echo "exit $?"
grep -v '^epoch' err
{ cat new.csv; sed 's/,[0-9]$/,-1/' old.csv; } > minus.csv
try enhope data minus.csv 2> err | grep -E 'samples|classes|unlabeled|exit'
cat err
sed 's/,[0-9]$/,-1/; 50,$s/,-1$/,1/' old.csv > two.csv # two labels, of which the model knows 1 only: -1 is no class
try update old.safetensors --data two.csv -o two.safetensors
enhope info two.safetensors | grep classes
try update old.safetensors --data empty.csv -o none.safetensors

# output files
cp old.safetensors model.safetensors
try update model.safetensors --data new.csv
cmp model.safetensors kept.safetensors && echo "not overwritten"
try update model.safetensors --data new.csv --in-place
cmp -s model.safetensors new.safetensors && echo "overwritten, the same as before"
try update old.safetensors --data new.csv -o old.safetensors
cmp -s old.safetensors new.safetensors && echo "overwritten with -o"
try update old.safetensors --data new.csv -o x.safetensors --in-place

# invalid requests
try update kept.safetensors --data new.csv --n-factors 9
try update kept.safetensors --data new.csv --recipe best
try update kept.safetensors --data new.csv -z 9
try update kept.safetensors
try update none.safetensors --data new.csv
enhope train --data old.csv --method pca --quiet -o pca.safetensors
try update pca.safetensors --data new.csv -o x.safetensors

# checkpoints
try update kept.safetensors --data new.csv --checkpoint run --every 0s -o a.safetensors
rm run/epoch-000003-*
try update kept.safetensors --data new.csv --checkpoint run --resume -o b.safetensors
cmp a.safetensors b.safetensors && echo "byte-identical"
try update a.safetensors --data new.csv --checkpoint run --resume -o b.safetensors
ls
