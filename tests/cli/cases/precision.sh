# --precision of predictions on the CPU: float32 is the default; unknown ones and unsuitable devices are errors.
try() { "$@" > out 2>&1; echo "rc $?"; tail -n 1 out; }
enhope train --data synthetic:blobs,n=300,classes=3,inputs=5,seed=1 --n-epochs 2 -q -o m.safetensors
data="--data synthetic:blobs,n=20,classes=3,inputs=5,seed=2"
for command in predict embed; do
    enhope $command m.safetensors $data -o default.csv
    enhope $command m.safetensors $data --precision float32 -o float32.csv
    enhope $command m.safetensors $data --precision fp32 -o fp32.csv
    cmp default.csv float32.csv && cmp default.csv fp32.csv && echo "$command: equal"
done
enhope eval m.safetensors $data | grep '^error' > default
enhope eval m.safetensors $data --precision float32 | grep '^error' | cmp - default && echo 'eval: equal'
try enhope predict m.safetensors $data --precision int4
try enhope eval m.safetensors $data --precision int8 --device ref
try enhope train --data synthetic:blobs,n=300,classes=3,inputs=5,seed=1 --precision int8 -o x.safetensors
[ -e x.safetensors ] || echo 'no model'
