# Data larger than --memory is streamed: training succeeds and gives byte-identical models with any
# number of threads.
python3 - <<'END'
import random, struct
random.seed(4)
n, H = 4000, 400
def center(k, j):
    return 200 if j % 3 == k else 40
with open("x.idx", "wb") as x, open("y.idx", "wb") as y:
    x.write(struct.pack(">BBBBII", 0, 0, 8, 2, n, H))
    y.write(struct.pack(">BBBBI", 0, 0, 8, 1, n))
    for i in range(n):
        k = i * 3 // n # class by class
        x.write(bytes(min(255, max(0, int(random.gauss(center(k, j), 90)))) for j in range(H)))
        y.write(bytes([k]))
END
train() {
    enhope train --data x.idx,y.idx --n-factors 40 --n-hidden 20 --n-epochs 6 --quiet "$@"
}
train --memory 1.2M --threads 1 -o a.safetensors
train --memory 1.2M --threads 1 -o b.safetensors
cmp a.safetensors b.safetensors && echo "byte-identical"
train --memory 1.2M --threads 3 -o b.safetensors
cmp a.safetensors b.safetensors && echo "byte-identical with 3 threads"
train --memory 1G -o b.safetensors
cmp -s a.safetensors b.safetensors || echo "in memory the batches differ"
for model in a b; do
    enhope eval $model.safetensors --data x.idx,y.idx --json | python3 -c "
import json, sys
print('learned' if json.load(sys.stdin)['errors'] / 4000 < 0.01 else 'not learned')"
done
train --memory 1.2M --method hope -o c.safetensors
echo "exit $?"
train --memory 1.2M --batch-size 3000 -o c.safetensors
echo "exit $?"
python3 - << END
with open("y.idx", "rb") as y, open("some.idx", "wb") as some:
    label = bytearray(y.read())
    label[2] = 9 # signed
    label[8::10] = b"\xff" * 400
    some.write(label)
END
enhope train --data x.idx,some.idx --memory 1.2M --n-factors 40 --n-hidden 20 --n-epochs 1 -o d.safetensors 2>&1 | grep "unlabeled$\|no label"
ls
