# Ctrl-C and SIGTERM complete the batch, save the best model so far and report it. The model can be read.
for signal in INT TERM; do
    enhope train --data synthetic:blobs,n=400,classes=3,inputs=5,seed=1 --n-factors 20 --n-hidden 10 --batch-size 100 \
        --n-epochs 1000000 --patience 0 \
        --log run.jsonl --quiet -o m.safetensors 2> err &
    tries=0
    while [ ! -s run.jsonl ] && [ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done
    kill -$signal $!
    wait $!
    echo "exit $?"
    sed 's/error [0-9.]* % at epoch [0-9]*/error # % at epoch #/; s/, epoch [0-9]*/, epoch #/' err
    enhope info m.safetensors | head -n 1
    rm run.jsonl m.safetensors
done
ls
