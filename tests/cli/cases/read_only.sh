# A read-only file is not replaced, also not by the superuser.
blobs=synthetic:blobs,n=60,classes=3,inputs=5,seed=3
train() { enhope train --data $blobs --n-factors 4 --n-hidden 3 --n-epochs 1 --quiet "$@"; echo "exit $?"; }
train -o m.safetensors
for name in kept.safetensors kept.npy kept.csv kept.svg kept.html kept.onnx; do
    echo kept > $name
    chmod 444 $name
done
train -o kept.safetensors
enhope embed m.safetensors --data $blobs -o kept.npy
enhope predict m.safetensors --data $blobs -o kept.csv
enhope plot m.safetensors --data $blobs -o kept.svg
enhope view m.safetensors --data $blobs -o kept.html
enhope export m.safetensors -o kept.onnx
ln -s kept.csv link.csv
enhope predict m.safetensors --data $blobs -o link.csv
cat kept.*
