# Settings that do not fit the data or each other: a single class, fewer exemplars than classes, more
# neighbors than exemplars, augmentation of images without images, an even dof, settings that do not
# apply to the method, map, solver or objective.
try() { enhope "$@"; echo "exit $?"; }
tiny="--n-factors 4 --n-hidden 3 --n-epochs 2 --batch-size 0 --quiet"
printf 'a,b,label\n1,2,x\n3,4,x\n5,7,x\n' > single.csv
try train --data single.csv $tiny
printf 'a,b\n1,2\n3,4\n5,7\n' > plain.csv
try train --data plain.csv --label none --method en-hope $tiny
try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 $tiny -z 2
try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 $tiny -z 4 --n-neighbors 5
try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 $tiny -z 6
for setting in "shift 1" "affine 0.5" "elastic 2"; do
    try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 $tiny --$setting -o none.safetensors
done
for setting in "--target nca --label-smoothing 0.1" "--method snc --label-smoothing 0.1" \
    "--method lmnn --class-weight balanced" "--method pca --n-epochs 3" "--method knn --validation-fraction 0.2" "--method nca --n-factors 20" "--method snc --n-components 3" "--line-searches 5" "--solver cg --learning-rate 0.1" "--target-weight pair" \
    "--similarity gaussian --dof 5" "--method hope -z 20" "--method hope --graph-k 3" "--solver cg --aux-components 10"; do
    try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 $setting --quiet -o none.safetensors
done
try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 --method pca --recipe paper --quiet -o pca.safetensors
try train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 $tiny --dof 4 -o none.safetensors
try eval model.safetensors --data synthetic:blobs,n=30,classes=3,inputs=5,seed=1 -k 7
try eval model.safetensors --data synthetic:blobs,n=30,classes=3,inputs=6,seed=1
try embed model.safetensors --data synthetic:blobs,n=30,classes=3,inputs=4,seed=1 -o y.csv
try predict model.safetensors
ls
