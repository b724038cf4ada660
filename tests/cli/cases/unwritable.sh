# Output that cannot be written is reported before the computation, and no files remain.
try() { enhope "$@"; echo "exit $?"; }
enhope train --data synthetic:blobs,n=60,classes=3,inputs=5,seed=1 --n-factors 4 --n-hidden 3 --n-epochs 1 --quiet \
    -o m.safetensors
mkdir folder
: > file
try train --data synthetic:blobs,n=60,seed=1 -o no/such/folder/m.safetensors
try train --data synthetic:blobs,n=60,seed=1 -o folder
try train --data synthetic:blobs,n=60,seed=1 -o file/m.safetensors
try embed m.safetensors --data synthetic:blobs,n=60,seed=1 -o no/y.csv
try predict m.safetensors --data synthetic:blobs,n=60,seed=1 -o folder
try plot m.safetensors --data synthetic:blobs,n=60,seed=1 -o file/map.svg
find . | sort
