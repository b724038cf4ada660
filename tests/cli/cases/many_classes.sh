# With more than 2,000 classes, eval prints no confusion matrix, and all other results.
train() { enhope train --data synthetic:blobs,n=$1,classes=$1,inputs=3,seed=1 --method pca --validation-fraction 0 --quiet -o $1.safetensors; }
evaluate() { enhope eval $1.safetensors --data synthetic:blobs,n=$1,classes=$1,inputs=3,seed=1 $2 2> /dev/null; }
for classes in 2000 2001; do
    train $classes
    evaluate $classes --json | tr -d '\n ' | grep -o '"confusion":.\{4\}'
    evaluate $classes --json | grep -c '"class":'
    evaluate $classes | grep 'onfusion'
done
