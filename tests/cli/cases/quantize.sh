# A model is stored in int8 unless its error increases too much.
train="--data synthetic:digits,n=600,seed=2"
enhope train $train --n-factors 30 --n-hidden 20 --n-epochs 12 --random-state 1 --quiet -o m.safetensors
hide() { sed 's/[0-9][0-9.]* %/# %/g; s/([0-9.]* to/(# to/; s/[0-9.]* kB/# kB/; s/[-+][0-9.]* points/# points/; s/; [0-9]* labels/; # labels/'; }
enhope quantize m.safetensors $train --max-loss 5 -o small.safetensors | hide
enhope info small.safetensors | grep -e ^map -e ^parameters
test $(($(stat -c %s m.safetensors) - $(stat -c %s small.safetensors))) -gt $((784 * 30 * 3)) && echo "the file is smaller"
python3 "$CASES/../../check_model_format.py" small.safetensors
# It is used in int8 by default, and in float on request. Float models have the ranges for int8.
enhope embed small.safetensors --data synthetic:digits,n=30,seed=7 -o a.npy
enhope embed small.safetensors --precision int8 --data synthetic:digits,n=30,seed=7 -o b.npy
enhope embed small.safetensors --precision float32 --data synthetic:digits,n=30,seed=7 -o c.npy
enhope embed m.safetensors --precision int8 --data synthetic:digits,n=30,seed=7 -o d.npy
cmp a.npy b.npy && echo "int8 is the default"
cmp -s a.npy c.npy || echo "float32 differs from int8"
enhope quantize m.safetensors $train --valid-data synthetic:digits,n=300,seed=3 --max-loss 100 --json -o b.safetensors |
    python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), r["n"], r["limit_points"])'
# A small model can be updated, and quantized again.
enhope update small.safetensors $train --n-epochs 1 --quiet -o updated.safetensors
enhope quantize small.safetensors $train --max-loss 5 -o again.safetensors > /dev/null && echo "quantized again"
# Refusals.
enhope quantize "$CASES/../../data/model-0.1.safetensors" --data synthetic:blobs,n=90,classes=3,inputs=4,seed=1 \
    -o old.safetensors | hide
enhope predict "$CASES/../../data/model-0.1.safetensors" --precision int8 --data synthetic:blobs,n=9,classes=3,inputs=4,seed=1
enhope quantize m.safetensors $train --limit 1 --valid-data synthetic:digits,n=300,seed=3 -o x.safetensors 2> err > out
echo "exit code $?"
sed 's/by [0-9.]* points/by # points/' err
enhope quantize m.safetensors $train --max-loss many -o x.safetensors
enhope quantize m.safetensors $train --max-loss -1 -o x.safetensors
enhope quantize m.safetensors $train
enhope quantize m.safetensors $train -o m.safetensors
enhope train $train --method linear-en-hope --n-epochs 1 --quiet -o linear.safetensors
enhope quantize linear.safetensors $train -o x.safetensors
test -e x.safetensors || echo "nothing is written"
