# Training: at most some twenty lines on standard error, a summary on standard output, a model that works.
tiny="--n-factors 8 --n-hidden 6 --n-epochs 3 --batch-size 40 --validation-fraction 0.2"
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny -o m.safetensors > out 2> err
echo "exit $?"
numbers='s/[0-9][0-9.e-]* s\b/# s/; s/loss [0-9.e-]*/loss #/; s/error [0-9.]* %/error # %/; s/(.*B)/(# kB)/'
numbers="$numbers; s/at epoch [0-9]/at epoch #/; /^Errors/s/[0-9][0-9.]* %/# %/g; /^Errors/s/[0-9.]* to/# to/g"
sed "$numbers" out
sed "$numbers" err
ls
enhope eval m.safetensors --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 > /dev/null && echo "it evaluates"
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny --quiet
echo "exit $?"
ls
# --json: only JSON on standard output, with the numbers of the summary and of the model
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny --json -o j.safetensors > t.json 2> err
echo "exit $?, $(grep -c '^epoch' err) lines of progress"
cmp m.safetensors j.safetensors && enhope info j.safetensors --json > i.json
python3 - <<'END'
import json, os
t, i = json.load(open("t.json")), json.load(open("i.json"))
print(*t)
same = ["method", "references", "epochs", "validation", "training"]
assert all(t[key] == i[key] for key in same), (t, i)
assert all(t["best"][key] == i["best"][key] for key in ("epoch", "loss", "valid_error"))  # files have no times
assert t["validation"]["n"] == 30 and t["bytes"] == os.path.getsize(t["model"]) and t["model"] == "j.safetensors"
assert t["epochs"] == 3 and t["earlier_epochs"] == 0 and t["seconds"] > 0 and not t["time_limit_reached"]
assert not t["cross_validated"] and t["error_name"] == "validation error"
END
enhope train --data synthetic:blobs,n=90,classes=3,inputs=4,seed=2 --class-weight balanced --n-epochs 7 --json --quiet \
    -o f.safetensors > f.json
python3 - <<'END'
import json
f = json.load(open("f.json"))
print(f["cross_validated"], f["error_name"], f["validation"]["n"], f["best"]["valid_error"])
END
# many epochs have some twenty lines, and the last one
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny --n-epochs 210 -o m.safetensors 2>&1 > out | grep '^epoch' > lines
wc -l < lines
tail -n 1 lines | cut -d: -f1
