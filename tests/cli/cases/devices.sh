# Without a GPU: the list has the reason, --device cuda fails with it, --device auto uses the cpu.
export CUDA_VISIBLE_DEVICES=-1 # hides the GPUs of a machine that has some
blobs=synthetic:blobs,n=150,classes=3,inputs=5,seed=3
tiny="--n-factors 8 --n-hidden 6 --n-epochs 2 --batch-size 40 --validation-fraction 0.2"
enhope info --devices > devices
echo "exit $?"
why=$(sed -n 's/^cuda *not available: //p' devices)
[ -n "$why" ] || echo "no reason is printed"
sed 's/[0-9]* threads*\(, [a-z0-9-]*\)*/# threads/; s/not available: .*/not available: .../' devices
OMP_NUM_THREADS=1 enhope info --devices | grep -c '^cpu *1 thread\b'
enhope info --devices --json > devices.json
WHY=$why python3 - <<'PY'
import json, os
devices = json.load(open("devices.json"))
print([(d["name"], d["available"], sorted(d)) for d in devices], devices[1]["text"] == os.environ["WHY"])
PY

enhope train --data $blobs $tiny --device cuda -o cuda.safetensors 2> err
echo "exit $?"
grep -qxF "enhope: $why" err && echo "the message has the reason"
[ -e cuda.safetensors ] && echo "a model was written"
enhope train --data $blobs $tiny --device cuda:7 --precision bf16 --quiet -o cuda.safetensors 2> err
echo "exit $?"
[ "$(wc -l < err)" = 1 ] || cat err
[ -e cuda.safetensors ] && echo "a model was written"

enhope train --data $blobs $tiny --device auto --precision bf16 -o auto.safetensors > out 2> err
echo "exit $?"
grep -cxF "computing on the cpu: $why" err
enhope train --data $blobs $tiny --quiet -o cpu.safetensors
cmp auto.safetensors cpu.safetensors && echo "the same model"
for command in embed predict eval plot; do
    enhope $command cpu.safetensors --data $blobs --device cuda > out 2> err
    echo "$command: exit $?"
    grep -qxF "enhope: $why" err || cat err
    [ -e map.svg ] && echo "a picture was written"
done
enhope embed cpu.safetensors --data $blobs --device auto > auto.csv 2> err
grep -cxF "computing on the cpu: $why" err
enhope embed cpu.safetensors --data $blobs | cmp - auto.csv && echo "the same embedding"
