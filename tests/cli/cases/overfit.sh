# Random labels: training warns of overfitting, except with --quiet.
python3 - <<'END'
import random
random.seed(1)
with open("noise.csv", "w") as out:
    out.write(",".join(f"x{j}" for j in range(30)) + ",label\n")
    for i in range(300):
        out.write(",".join(f"{random.gauss(0, 1):.4f}" for _ in range(30)) + f",{i % 2}\n")
END
random="--recipe paper --target-weight sample --data noise.csv --n-factors 60 --n-hidden 20 --order 1 --n-epochs 30 --patience 0 --validation-fraction 0.3 --batch-size 0 --line-searches 20"
enhope train $random -o m.safetensors 2> err | sed 's/.*\(; the model.*\)(.*/\1/; s/[0-9][0-9.]* %/# %/g; s/[0-9.]* to/# to/g'
tail -n 1 err
enhope train $random --quiet -o m.safetensors
enhope info m.safetensors | grep -e '^errors' -e '^calibrated' | sed 's/[0-9][0-9.]* %/# %/g; s/[0-9.]* to/# to/g; s/temperature .*/temperature #/'
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --method pca --validation-fraction 0.2 2> err |
    sed '1d; s/[0-9][0-9.]* %/# %/g; s/[0-9.]* to/# to/g'
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-epochs 2 --validation-fraction 0 --n-factors 8 --n-hidden 6 2> err |
    sed '1d; s/[0-9][0-9.]* %/# %/g; s/[0-9.]* to/# to/g'
