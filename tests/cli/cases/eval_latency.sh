# eval --latency prints the time of calls of 1, 10, ... and all rows; larger calls than the data are left out.
try() { "$@" > out 2>&1; echo "rc $?"; tail -n 1 out; }
enhope train --data synthetic:blobs,n=300,classes=3,inputs=5,seed=1 --n-epochs 2 -q -o m.safetensors
data="--data synthetic:blobs,n=50,classes=3,inputs=5,seed=2"
enhope eval m.safetensors $data --latency | sed -n '/^time of a call/,$p' | sed 's/  *[0-9.]* [mu]s/ TIME/g; s/TIME  *[0-9]*  *[0-9]*$/TIME N/'
enhope eval m.safetensors $data --latency --json | sed -n '/latency/,/\]/p' | sed 's/: [0-9.e+-]*\([,}]\)/: N\1/g; s/"rows": N/"rows"/'
enhope eval m.safetensors $data --latency --json | grep -o '"rows": [0-9]*'
enhope eval m.safetensors $data --json | grep -c latency
try enhope eval m.safetensors $data --latency --device ref
try enhope eval m.safetensors $data --latency -k 70
