# A search for settings: the same runs with any number of processes; it resumes; invalid options are
# refused; Ctrl-C loses no completed run.
data="--data synthetic:blobs,n=2200,classes=10,inputs=9,seed=1 --n-epochs 3"
run() { enhope tune "$@" 2>&1 | sed 's/, [0-9.]* s;/;/'; }
runs() { sed -n 's/^\(trial [0-9]*\): [0-9.]* %, log loss [0-9.]*; \([0-9]* rows, [0-9]* epochs\).*/\1, \2/p' "$1" |
    sed 's/^trial [1-9], \(1407\|1980\)/the best trial, \1/'; }
run $data --trials 5 -o one > first
runs first
run $data --trials 5 -o two --jobs 3 > second
runs first | sort > a; runs second | sort | cmp - a && echo "the same runs with three processes"
ls one
grep '^[0-9]* trials' first
tail -n 1 first | sed 's/trial [0-9]*/trial N/' # with equal errors, times decide
enhope info one/best.safetensors | head -n 1
grep '^## ' one/report.md
sed '1,/^## All runs/d' one/report.md | grep -c '^| [0-9]'
python3 - <<'END'
import json, os, re
frontier = json.load(open("one/frontier.json"))
lines = open("one/report.md").read().split("## Frontier")[1].split("## All runs")[0].splitlines()
rows = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| \d", line)]
same = [(r["trial"], f'{r["error_percent"]:.2f}', f'{r["bytes"]:.0f}', f'{r["microseconds"]:.2f}') for r in frontier] == [
    (int(r[0]), r[1], r[6], r[7]) for r in rows]
print("frontier.json has the frontier of the report" if same and rows else (frontier, rows))
by_size = sorted((r for r in frontier if r["best_in_size"]), key=lambda r: r["bytes"])
falling = all(a["error_percent"] >= b["error_percent"] for a, b in zip(by_size, by_size[1:]))
print("a larger model has a lower error" if falling else by_size)
print("the sizes are those of the files" if all(os.path.getsize(r["model"]) == r["bytes"] for r in frontier) else frontier)
END
# it resumes: completed runs are reused, missing runs are repeated, trials are added
echo "== again"; run $data --trials 5 -o one > again; runs again
echo "== one lost"; rm one/runs/0002-0.json; run $data --trials 5 -o one > again; runs again
echo "== a model lost"; rm one/models/0000-0.safetensors; run $data --trials 5 -o one > again; runs again
echo "== more"; run $data --trials 6 -o one > again; runs again | grep 'trial 5, 1000'
# --json: only JSON on standard output, with the frontier of the file and the best run of the text
enhope tune $data --trials 6 -o one --json > tune.json
python3 - <<'END'
import json
t = json.load(open("tune.json"))
print(*t)
frontier = json.load(open("one/frontier.json"))
assert t["frontier"] == frontier and t["samples"] == 2200 and t["validation_samples"] == 220 and t["folds"] == 0
assert t["trials"] == 6 and t["runs"] >= 8 and t["ended_because"] and t["failed"] == []
best = t["best"]
assert best["model"] == "one/best.safetensors" and best["error_percent"] == min(r["error_percent"] for r in frontier)
g = t["gain"]
if best["trial"]:
    assert g["interval_points"][0] <= g["points"] <= g["interval_points"][1]
    assert abs(g["default_error_percent"] - g["error_percent"] - g["points"]) < 1e-9
else:
    assert g is None
END
enhope tune $data --trials 6 -o one --size 1 --json 2>&1 | grep -e '"best"' -e '"frontier": ' -e enhope
# limits of the best model
echo "== limits"
run $data --trials 5 -o one --size 1 | tail -n 1
run $data --trials 5 -o one --size 700000 > small
python3 - <<'END'
import os
print("within the limit" if os.path.getsize("one/best.safetensors") <= 700000 else "too large")
END
# other data, other settings, invalid options
echo "== refused"
run $data --trials 5 -o one --n-components 3
run --data synthetic:blobs,n=2201,classes=10,inputs=9,seed=1 --n-epochs 3 --trials 5 -o one
for bad in "--for 10" "--for never" "--for -3m" "--trials 1" "--recipe best" "--validation-fraction 0" "--n-factors no" "--jobs 0"; do
    enhope tune $data -o no $bad > /dev/null 2> err && echo "accepted: $bad"
    cat err
done
enhope tune 2>&1
enhope tune --data - 2>&1
enhope tune --data nowhere.csv --trials 3 -o no 2>&1
echo "exit $?"
# a short time limit
echo "== time"
enhope tune --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-epochs 3 --for 1s -o short > out-of-time 2>&1
echo "exit $?"
ls short
grep -o 'The search ended because the time is over (--for).' out-of-time
# few samples are compared by cross-validation; equal errors by their log loss
echo "== few samples"
run --data synthetic:blobs,n=90,classes=3,inputs=4,seed=2 --n-epochs 3 --trials 4 -o few > few.log
runs few.log
grep -o 'compared by 5-fold cross-validation' few/report.md
python3 - <<'END'
import glob, json
best, = [r for r in map(str.split, open("few.log")) if r[:3] == ["The", "model", "is"]]
runs = {int(f.split("/")[-1][:4]): json.load(open(f)) for f in glob.glob("few/runs/*.json")}
chosen = int(best[best.index("(trial") + 1].strip("),"))
key = lambda i: (runs[i]["valid_error_percent"], runs[i]["valid_log_loss"])
print("the lowest error, then the lowest log loss" if key(chosen) == min(map(key, runs)) else (chosen, runs))
END
# a method without settings to draw: the search ends early
echo "== no more settings"
run --data synthetic:blobs,n=60,classes=3,inputs=4,seed=2 --n-epochs 2 --trials 30 --method linear-en-hope --noise 0 --dropout 0 \
    --normalizer row --learning-rate 0.01 --batch-size 20 --n-exemplars 3 --exemplars kmeans --label-smoothing 0 \
    --adversarial-step 0 --init-scale 1 -o none | grep '^[0-9]* trials'
echo "== Ctrl-C"
: > out
: > err
enhope tune $data --trials 50 -o stopped > out 2> err &
tries=0
until grep -q '^trial 0:' out err || [ $tries -ge 2400 ]; do sleep 0.05; tries=$((tries + 1)); done
kill -INT $!
wait $!
echo "exit $?"
tail -n 1 err
ls stopped
enhope info stopped/best.safetensors | head -n 1
