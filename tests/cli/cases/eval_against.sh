# The same map against its exemplars, against k-means centres and against all training points.
data=synthetic:blobs,n=400,classes=3,inputs=4,seed=2
enhope train --data $data --split 300@1 --recipe paper --epochs 3 --factors 16 --hidden 8 --batch 100 -z 6 -q -o m.safetensors
for against in exemplars "kmeans" "kmeans --centres 9 --seed 3" training; do
    echo "== $against"
    enhope eval m.safetensors --data $data --split 300@1 --against $against | sed -n '1s/ (.*//p; 2p'
done
enhope train --data $data --split 300@1 --method knn -q -o k.safetensors
enhope eval k.safetensors --data $data --split 300@1 --against kmeans --json | grep references
enhope eval k.safetensors --data $data --split 300@1 --against exemplars
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --part test --against kmeans
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --against neighbours
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --against kmeans --centres 2
echo "exit $?"
