# Methods with a closed solution: one epoch; the models embed and predict new samples.
new="--data synthetic:blobs,n=60,classes=3,inputs=5,seed=3,part=test"
for method in pca lpp "lpp --graph-k 0" mcml; do
    enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --method $method -o m.safetensors 2> err |
        sed 's/ in [0-9.]* s.*//; s/[0-9][0-9.]* %/# %/g; s/[0-9.]* to/# to/g'
    sed -n 's/ with loss.*//; s/mcml: [0-9]* steps, a metric of rank [0-9]*/mcml: # steps, a metric of rank #/; /^[lm]/p' err
    enhope embed m.safetensors $new -o y.csv && wc -l < y.csv
    enhope predict m.safetensors $new > guess && wc -l < guess
    enhope eval m.safetensors $new > report && echo "it evaluates"
done
enhope info m.safetensors | grep -E '^(method|map) '
enhope train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 --method lpp --n-components 6 --quiet
echo "exit $?"
enhope train --data synthetic:blobs,n=12000,classes=3,inputs=5,seed=1 --method mcml --quiet
echo "exit $?"
