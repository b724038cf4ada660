# A full disk while a model or a table is saved: the old file is intact, no temporary file remains.
enhope train --data synthetic:blobs,n=60,classes=3,inputs=5,seed=1 --n-factors 4 --n-hidden 3 --n-epochs 1 --quiet \
    -o m.safetensors
enhope embed m.safetensors --data synthetic:blobs,n=60,seed=1 -o y.csv
cp m.safetensors old.safetensors
cp y.csv old.csv
(
    ulimit -f 8 # blocks of 512 bytes: 4 kB; the model needs 40 kB
    enhope train --data synthetic:blobs,n=60,classes=3,inputs=5,seed=1 --n-factors 100 --n-hidden 100 --n-epochs 1 \
        --quiet -o m.safetensors
    echo "exit $?"
    enhope embed m.safetensors --data synthetic:blobs,n=2000,seed=1 -o y.csv
    echo "exit $?"
)
cmp m.safetensors old.safetensors && cmp y.csv old.csv && echo "the old files are intact"
ls
