# The plain Python reader of docs/reference/model-format.md reads models of train.
enhope train --data synthetic:blobs,n=90,classes=3,inputs=5,seed=1 --n-factors 7 --n-hidden 4 -z 6 --n-epochs 1 --quiet \
    -o m.safetensors
python3 "$CASES/../../check_model_format.py" m.safetensors
enhope train --data synthetic:blobs,n=30,classes=3,inputs=5,seed=1 --method knn --quiet -o m.safetensors
python3 "$CASES/../../check_model_format.py" m.safetensors
