# A stopped run replaces an existing model only if it has completed an epoch whose validation error is not
# above that of the model; otherwise it writes FILE.partial.
small="--data synthetic:digits,n=600,seed=1 --n-factors 30 --n-hidden 20 --batch-size 200"
enhope train $small --n-epochs 6 --quiet -o good.safetensors
cp good.safetensors before.safetensors

stop() { # NAME ARGUMENTS...: starts a run, waits for a line in the file NAME, sends SIGINT
    line=$1
    shift
    : > run.jsonl
    : > err
    enhope "$@" 2> err > /dev/null &
    tries=0
    while ! grep -q . "$line" && [ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done
    kill -INT $!
    wait $!
    echo "exit $?"
    sed -n 's/error [0-9.]* % at epoch [0-9]*/error # % at epoch #/; s/part, epoch [0-9]*/part, epoch #/; /stopped/p' err
    for name in *.partial; do [ -e "$name" ] && enhope info "$name" | sed -n '1s/ .*//p' && rm "$name"; done
    cmp good.safetensors before.safetensors && echo "unchanged"
}
slow="--data synthetic:digits,n=3000,seed=1 --n-factors 800 --n-hidden 400 --batch-size 20"
long="--n-epochs 1000000 --patience 0 --log run.jsonl --quiet"

echo "before the first epoch ended"
stop err train $slow -o good.safetensors
stop err train $slow -o new.safetensors
echo "a higher error"
stop run.jsonl train $small $long --learning-rate 1e-9 -o good.safetensors
echo "no validation part"
stop run.jsonl train $small $long --validation-fraction 0 -o good.safetensors
stop run.jsonl train $small $long --validation-fraction 0 -o other.safetensors
echo "update"
stop run.jsonl update good.safetensors --data synthetic:digits,n=600,seed=1 $long --validation-fraction 0 --in-place
echo "an error that is not higher, or a file that is no model"
enhope train $small --n-epochs 1 --learning-rate 1e-9 --quiet -o poor.safetensors
stop run.jsonl train $small $long -o poor.safetensors
echo text > text.safetensors
stop run.jsonl train $small $long -o text.safetensors
enhope info text.safetensors | head -n 1
ls
