# Checkpoints: SIGTERM writes one and reports it; the same command resumes and gives a byte-identical
# model; checkpoints of another run are refused.
train() {
    enhope train --data synthetic:blobs,n=400,classes=3,inputs=5,seed=1 --n-factors 20 --n-hidden 10 --batch-size 100 --n-epochs 40 \
        --quiet "$@"
}
try() { "$@"; echo "exit $?"; }
train -o whole.safetensors

# SIGTERM, as batch schedulers send it, ends a run: no model is written
enhope train --data synthetic:blobs,n=400,classes=3,inputs=5,seed=1 --n-factors 20 --n-hidden 10 --batch-size 100 --n-epochs 1000000 \
    --patience 0 --quiet --checkpoint term --resume --log log.jsonl -o m.safetensors 2> err &
tries=0
while [ ! -s log.jsonl ] && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
try train --checkpoint term --resume # its folder is locked
kill -TERM $!
wait $!
echo "exit $?"
sed 's/epoch-[0-9]*-batch-[0-9]*/epoch-#-batch-#/' err
[ -e m.safetensors ] && echo "a model was written"
ls term | sed 's/[0-9][0-9]*/#/g'

# a run that is resumed
train --checkpoint run --keep 3 --every 0s -o m.safetensors
ls run
rm run/epoch-000040-batch-000000.safetensors m.safetensors
train --checkpoint run --keep 2 --every 0s --resume --threads 2 -o m.safetensors
cmp whole.safetensors m.safetensors && echo "byte-identical"
ls run
rm m.safetensors
try train --checkpoint run --resume -o m.safetensors # training is complete
cmp whole.safetensors m.safetensors && echo "byte-identical"

# other settings, other data, another method, checkpoints without --resume, invalid folders
try train --checkpoint run --resume --patience 7
try train --checkpoint run --resume --n-epochs 41
try train --checkpoint run --resume --method hope
try enhope train --data synthetic:blobs,n=400,classes=3,inputs=5,seed=1 --method pca --checkpoint run --resume --quiet
try train --checkpoint run --resume --data synthetic:blobs,n=400,classes=3,inputs=5,seed=2
try train --checkpoint run --resume --limit 399
try train --checkpoint run
try train --resume
try train --checkpoint other --every 5
try train --checkpoint no/such/folder
: > file
try train --checkpoint file

# the newest is truncated or has a changed byte: the one before it is used
cp -r run whole
head -c 500 whole/epoch-000040-batch-000000.safetensors > run/epoch-000040-batch-000000.safetensors
try train --checkpoint run --resume -o m.safetensors 2> err
sed 's/length [0-9]*/length #/' err >&2
cmp whole.safetensors m.safetensors && echo "byte-identical"
cp whole/* run
newest=run/epoch-000040-batch-000000.safetensors
byte=$(od -An -tu1 -j 7000 -N 1 $newest)
printf "\\$(printf %o $((byte ^ 1)))" | dd of=$newest bs=1 seek=7000 conv=notrunc 2> /dev/null
: > run/epoch-000040-batch-000000.safetensors.tmp-1-0 # of a run that was killed
try train --checkpoint run --resume -o m.safetensors
cmp whole.safetensors m.safetensors && echo "byte-identical"
ls run
for name in run/*; do echo nothing > "$name"; done
try train --checkpoint run --resume -o m.safetensors

# a full disk: training continues, and the model is written
(
    ulimit -f 400 # blocks of 512 bytes: enough for the model, but not for four times as much
    try train --checkpoint full --n-factors 200 --n-hidden 100 -o m.safetensors
    ls full
)
ls

# only temporary files of killed runs are removed: other files are the user's, whatever their names
rm -r run
mkdir run
for name in epoch-1-batch-0.safetensors epoch-000001-batch-000000.safetensors.bak epoch-000001-batch-000000.safetensors~ \
    epoch-000001-batch-000000.safetensors.tmp-12-notes; do
    echo "of the user" > run/$name
done
: > run/epoch-000001-batch-000000.safetensors.tmp-999999-0
try train --checkpoint run --keep 1 --every 0s -o m.safetensors
ls run
