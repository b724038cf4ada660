# Options and data that are refused, and what is printed at the edges: models of three dimensions, data
# without labels, a compiler that fails.
blobs="synthetic:blobs,n=300,classes=3,inputs=5,seed=4"
tiny="--n-factors 5 --n-hidden 4 --order 1 --noise 0 --dropout 0 --learning-rate 0.01 --n-epochs 2 --batch-size 50 --quiet --n-exemplars"
enhope train --data $blobs $tiny 3 --n-components 3 -o deep.safetensors
enhope train --data $blobs $tiny 3 -o m.safetensors
run() { # prints the messages and the exit code
    enhope "$@" 2> messages > /dev/null
    code=$?
    sed "s|$PWD/||" messages
    echo "exit $code"
}
run update m.safetensors --data $blobs -o -
run train --data $blobs --threads -3
run tune --data synthetic:blobs,n=9,classes=3 -o few
run tune --data synthetic:blobs,n=2200,classes=3,inputs=2 --validation-fraction 0.0001 -o empty
enhope info -- m.safetensors | head -n 1
echo "== three dimensions"
run plot deep.safetensors --data $blobs -o deep.svg
enhope view deep.safetensors --data $blobs -o deep.html 2>&1 | grep 'first two are drawn'
echo "== without labels"
awk 'BEGIN { print "a,b"; for (i = 0; i < 40; i++) print i % 7 "," i * i % 11 }' > inputs.csv
enhope train --data synthetic:blobs,n=300,classes=3,inputs=2,seed=4 $tiny 3 -o two.safetensors
run quantize two.safetensors --data inputs.csv --label none -o q.safetensors
run plot two.safetensors --data inputs.csv --label none -o p.svg
grep -o '[a-z-]*: 40 points, colored by predicted class' p.svg
run eval two.safetensors --data inputs.csv --label none
echo "== texts as an array"
enhope predict two.safetensors --data inputs.csv --label none -o labels.npy
head -c 128 labels.npy | tr -d '\0' | sed -n "s/.*\('descr'.*)\).*/\1/p"
echo "== a compiler that fails"
printf '#!/bin/sh\necho "no such processor" >&2\nexit 3\n' > cc.sh
chmod +x cc.sh
CC="$PWD/cc.sh" run export m.safetensors -o m.c --check $blobs
CC="$PWD/none.sh" run export m.safetensors -o m.c --check $blobs
TMPDIR="$PWD/none" run export m.safetensors -o m.c --check $blobs
