# export: files of each format, the header of C, and what is refused.
blobs=synthetic:blobs,n=120,classes=3,inputs=4,spread=0.05,seed=3
enhope train --data $blobs --n-factors 8 --n-hidden 6 --n-epochs 4 -z 6 --quiet -o m.safetensors
for ending in onnx c js json; do
    enhope export m.safetensors -o my-model.$ending
done
ls
version=$(enhope --version | sed 's/[^0-9.]*//g')
sed "s/$version/VERSION/" my-model.h
python3 - <<'END'
import json
model = json.load(open("my-model.json"))
print({name: value if isinstance(value, (int, str)) else type(value).__name__ for name, value in model.items() if name != "producer_version"})
print(model["rule"]["label"], len(model["references"]["y"]), [len(model["map"][name]) for name in "CWbV"])
raw = open("my-model.onnx", "rb").read()
print(raw[:2] == b"\x08\x08", b"probabilities" in raw, b"my_model" in raw)
END
# the same model gives the same file
enhope export m.safetensors -o again.onnx --name my_model
cmp my-model.onnx again.onnx && echo same
enhope export m.safetensors -o vote.c -k 3 --name v
grep -c 'v_vote' vote.c

set +e
enhope export m.safetensors
enhope export m.safetensors -o m.pb
enhope export m.safetensors -o m
enhope export m.safetensors -o m.c --name 3d
enhope export m.safetensors -o m.c --precision int4
enhope export m.safetensors -o m.c -k 7
enhope export m.safetensors -o no/folder/m.onnx
enhope export m.safetensors -o m.safetensors
enhope train --data $blobs --method pca --quiet -o linear.safetensors
enhope export linear.safetensors -o linear.c --precision int8
printf 'day,label\n2024-02-29,a\n2023-01-05,b\n2024-03-01,a\n2023-01-07,b\n' > days.csv
enhope train --data days.csv --method knn --quiet -o days.safetensors
enhope export days.safetensors -o days.onnx
enhope export days.safetensors -o days.onnx --encoded && echo encoded
ENHOPE_CLANG=no-such-clang enhope export m.safetensors -o m.wasm
CC=no-such-cc enhope export m.safetensors -o m.c --check $blobs
PATH=$(dirname "$(command -v enhope)")
enhope export m.safetensors -o m.js --check $blobs
enhope export m.safetensors -o m.onnx --check $blobs
