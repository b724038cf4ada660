# A model is compressed to a size, an error or a number of multiplications, and every command reads it.
train="--data synthetic:digits,n=600,seed=2"
new="--data synthetic:digits,n=200,seed=7"
enhope train $train --n-factors 30 --n-hidden 20 --n-epochs 12 --random-state 1 --quiet -o m.safetensors
hide() { sed 's/[0-9][0-9.]* %/# %/g; s/([0-9.]* to/(# to/; s/[0-9.]* kB/# kB/; s/[0-9]* \(weights,\|multiplications\|factors\|hidden\)/# \1/g; s/for [0-9]* of/for # of/'; }
enhope compress m.safetensors $train --size 9kB --n-epochs 12 -o small.safetensors 2> log | hide
test "$(stat -c %s small.safetensors)" -le 9000 && echo "the file is small enough"
sed -n 's/loss.*//p' log | tail -n 1
enhope info small.safetensors | grep -e ^map -e ^trained | hide
python3 "$CASES/../../check_model_format.py" small.safetensors | sed 's/\[[0-9]*\]$/[#]/; s/\[2, [0-9]*\]/[2, #]/'
# The same command gives a byte-identical file. Every command reads the file.
enhope compress m.safetensors $train --size 9kB --n-epochs 12 --threads 1 --quiet -o again.safetensors
cmp small.safetensors again.safetensors && echo "the bytes are the same"
enhope predict small.safetensors $new | wc -l
enhope embed small.safetensors $new -o a.npy
enhope embed small.safetensors $new --precision float32 -o b.npy
cmp -s a.npy b.npy || echo "predictions are in int8"
enhope eval small.safetensors $new > report && echo "it evaluates"
enhope eval small.safetensors $new --references kmeans > report && echo "it evaluates with other references"
enhope view small.safetensors $new -o map.html 2> log && echo "it has a page"
enhope update small.safetensors $train --n-epochs 2 --quiet -o more.safetensors && echo "it is updated"
enhope quantize small.safetensors $train --max-loss 5 -o int8.safetensors > report && echo "it is quantized"
enhope compress small.safetensors $train --size 7kB --n-epochs 10 --quiet -o smaller.safetensors && echo "it is compressed"
enhope export small.safetensors -o small.c && grep -q "int8" small.c && echo "it is exported in int8"
# An error and a number of multiplications.
enhope compress m.safetensors $train --error 60 --n-epochs 10 --json -o small.safetensors |
    python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), r["after"]["error_percent"] <= 60, r["after"]["bytes"] < r["before"]["bytes"])'
enhope compress m.safetensors $train --operations 6400 --n-epochs 10 --json -o fast.safetensors |
    python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["after"]["operations"] <= 6400)'
# Refusals.
enhope compress m.safetensors $train --size 1kB --n-epochs 10 --quiet -o x.safetensors 2>&1 | sed 's/has [0-9]* bytes/has # bytes/'
enhope compress m.safetensors $train --size 30kB --error 0.001 --n-epochs 10 --quiet -o x.safetensors 2>&1 | sed 's/of [0-9]* bytes/of # bytes/; s/of [0-9.]* %/of # %/'
enhope compress m.safetensors $train -o x.safetensors
enhope compress m.safetensors $train --size many -o x.safetensors
enhope compress m.safetensors $train --size 9kB
enhope compress m.safetensors $train --size 9kB --bits 3 -o x.safetensors
enhope compress m.safetensors $train --size 9kB --n-factors 7 -o x.safetensors
enhope compress m.safetensors $train --size 9kB -o m.safetensors
enhope train $train --method linear-en-hope --n-epochs 1 --quiet -o linear.safetensors
enhope compress linear.safetensors $train --size 9kB -o x.safetensors
test -e x.safetensors || echo "nothing is written"
