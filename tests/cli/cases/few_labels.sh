# Samples without a label take part in training: byte-identical with any number of threads and after
# an interruption, with a message, and not if they cannot.
awk 'BEGIN { srand(7); print "a,b,c,kind"
             for (i = 0; i < 240; i++) {
                 k = i % 3; u = (k == 0) - (k == 1)
                 printf "%.3f,%.3f,%.3f,%s\n", 2 * u + rand() - 0.5, 3 * (k == 2) + rand(), rand(), i < 24 ? "k" k : "" } }' > few.csv
train() { enhope train --data few.csv --label kind --n-factors 12 --n-hidden 8 --n-epochs 6 --batch-size 30 "$@" 2> log; }
train --threads 1 -q -o a.safetensors
for threads in 2 3; do
    train --threads $threads -q -o b.safetensors
    cmp a.safetensors b.safetensors && echo "byte-identical with $threads threads"
done
train --time-limit 0.000001 --checkpoint runs -q -o part.safetensors
train --checkpoint runs --resume -o b.safetensors > /dev/null
grep -o "^resum[a-z]*" log
cmp a.safetensors b.safetensors && echo "byte-identical after an interruption"
train -o c.safetensors > /dev/null
grep "no label" log
train --unlabeled-weight 0 -o d.safetensors > /dev/null
grep "no label" log
cmp -s c.safetensors d.safetensors || echo "another model without them"
train --solver cg --unlabeled-weight 1 -o e.safetensors || tail -n 1 log
enhope convert --data few.csv --label kind -o shards > /dev/null 2>&1
enhope train --data shards --memory 1K --unlabeled-weight 2 --n-epochs 2 2>&1 | tail -n 1
