# The same seed gives byte-identical models with any number of threads; another seed does not.
train() {
    enhope train --data synthetic:digits,n=400,seed=1 --n-factors 300 --n-hidden 20 --n-epochs 2 --batch-size 200 --quiet "$@"
}
for solver in cg adam; do
    train --solver $solver --random-state 5 --threads 1 -o a.safetensors
    train --solver $solver --random-state 5 --threads 1 -o b.safetensors
    cmp a.safetensors b.safetensors && echo "$solver: same seed, byte-identical"
    for threads in 2 3; do
        train --solver $solver --random-state 5 --threads $threads -o b.safetensors
        cmp a.safetensors b.safetensors && echo "$solver: byte-identical with $threads threads"
    done
done
train --solver adam --noise 0.2 --dropout 0.1 --threads 1 -o d.safetensors
for threads in 2 3; do
    train --solver adam --noise 0.2 --dropout 0.1 --threads $threads -o b.safetensors
    cmp d.safetensors b.safetensors && echo "noise and dropout: byte-identical with $threads threads"
done
regularized="--adversarial-step 0.1 --label-smoothing 0.1 --class-weight balanced --dof 5"
train --solver adam $regularized --threads 1 -o d.safetensors
for threads in 2 3; do
    train --solver adam $regularized --threads $threads -o b.safetensors
    cmp d.safetensors b.safetensors && echo "adversary, smoothing, class weights and dof: byte-identical with $threads threads"
done
train --solver adam --shift 1 --affine 1 --elastic 1 --threads 1 -o d.safetensors
for threads in 2 3; do
    train --solver adam --shift 1 --affine 1 --elastic 1 --threads $threads -o b.safetensors
    cmp d.safetensors b.safetensors && echo "moved images: byte-identical with $threads threads"
done
train --random-state 6 -o c.safetensors
cmp -s a.safetensors c.safetensors || echo "another seed, another model"
embed() { enhope embed "$@" --data synthetic:digits,n=1300,seed=2; }
embed a.safetensors --threads 1 > a.csv
embed a.safetensors --threads 3 > b.csv
cmp a.csv b.csv && echo "embed: byte-identical with any number of threads"
enhope plot a.safetensors --data synthetic:digits,n=300,seed=2 -o a.svg
enhope plot a.safetensors --data synthetic:digits,n=300,seed=2 -o b.svg
cmp a.svg b.svg && echo "same picture"
