# The same map with its exemplars, with k-means centers and with all training points as references.
data=synthetic:blobs,n=400,classes=3,inputs=4,seed=2
enhope train --data $data --split 300@1 --recipe paper --n-epochs 3 --n-factors 16 --n-hidden 8 --batch-size 100 -z 6 -q -o m.safetensors
for references in exemplars "kmeans" "kmeans --centers 9 --random-state 3" training; do
    echo "== $references"
    enhope eval m.safetensors --data $data --split 300@1 --references $references | sed -n '1s/ (.*//p; /^against/p'
done
enhope train --data $data --split 300@1 --method knn -q -o k.safetensors
enhope eval k.safetensors --data $data --split 300@1 --references kmeans --json | grep references
enhope eval k.safetensors --data $data --split 300@1 --references exemplars
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --part test --references kmeans
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --references neighbours
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --references kmeans --centers 2
echo "exit $?"
