# The description of a model, as text and as JSON.
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-factors 8 --n-hidden 6 --order 3 --n-epochs 3 \
    --batch-size 40 --validation-fraction 0.2 \
    -z 6 --random-state 7 --quiet -o m.safetensors
enhope info m.safetensors |
    sed 's/loss [0-9.e-]*/loss #/; s/error [0-9.]* %/error # %/; s/^\(best *epoch\) [0-9]/\1 #/' |
    sed 's/[0-9][0-9.]* %/# %/g; s/[0-9.]* to/# to/g; s/temperature .*/temperature #/; /^settings/q'
enhope info m.safetensors | grep -e '^  n_factors ' -e '^  random_state '
enhope info m.safetensors --json > i.json
python3 - <<'END'
import json
i = json.load(open("i.json"))
print(sorted(i))
print(i["method"], i["map"], i["inputs"], i["outputs"], i["factors"], i["hidden"], i["order"], i["parameters"])
print(i["classes"], i["settings"]["order"], i["settings"]["n_exemplars"], i["last"]["epoch"], sorted(i["best"]))
END
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-factors 8 --n-hidden 6 --order 4 --n-epochs 3 \
    -z 6 --quiet -o fourth.safetensors
enhope info fourth.safetensors | grep ^map
