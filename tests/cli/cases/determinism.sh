# The same seed gives the same bytes; another one does not; any number of threads gives the same errors.
train() {
    enhope train --data synthetic:digits,n=400,seed=1 --factors 20 --hidden 10 --epochs 2 --batch 200 --quiet "$@"
}
train --seed 5 --threads 1 -o a.safetensors
train --seed 5 --threads 1 -o b.safetensors
train --seed 6 --threads 1 -o c.safetensors
cmp a.safetensors b.safetensors && echo "same seed, same bytes"
cmp -s a.safetensors c.safetensors || echo "another seed, other bytes"
errors() { enhope eval "$@" --data synthetic:digits,n=300,seed=2 --json | grep '"errors": [0-9]*,$'; }
one=$(errors a.safetensors --threads 1)
[ "$one" = "$(errors a.safetensors --threads 2)" ] && echo "eval: same errors for any number of threads"
blobs="synthetic:blobs,n=300,classes=3,inputs=40,spread=0.1,seed=1"
for threads in 1 2 3; do
    enhope train --data $blobs --factors 200 --hidden 100 --epochs 8 --batch 300 --quiet --threads $threads \
        -o $threads.safetensors
    enhope eval $threads.safetensors --data $blobs | sed -n "1s/^/trained with $threads: /p"
done
enhope plot a.safetensors --data synthetic:digits,n=300,seed=2 -o a.svg
enhope plot a.safetensors --data synthetic:digits,n=300,seed=2 -o b.svg
cmp a.svg b.svg && echo "same picture"
