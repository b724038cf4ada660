# The report: the error with its interval, the errors of the classes, the confusion matrix. The blobs are far apart.
enhope train --data synthetic:blobs,n=180,classes=3,inputs=4,spread=0.05,seed=3 --n-factors 8 --n-hidden 6 --n-epochs 8 \
    --batch-size 60 --quiet
enhope eval model.safetensors --data synthetic:blobs,n=120,classes=3,inputs=4,spread=0.05,seed=3 |
    sed 's/^time: .*/time: #/; /^probabilities/s/[0-9.]\{3,\}/#/g'
enhope eval model.safetensors --data synthetic:blobs,n=120,classes=3,inputs=4,spread=0.05,seed=3 -k 2 | head -n 1
