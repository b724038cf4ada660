# A search for settings: the same runs with any number of processes; it resumes; invalid options are
# refused; Ctrl-C loses no completed run.
data="--data synthetic:blobs,n=600,classes=10,inputs=40,seed=1 --n-epochs 9"
run() { enhope tune "$@" 2>&1 | sed 's/, [0-9.]* s;/;/'; }
runs() { sed -n 's/^\(trial [0-9]*\): [0-9.]* % after \([0-9]*\) epochs.*/\1, \2 epochs/p' "$1"; }
run $data --trials 5 -o one > first
runs first
run $data --trials 5 -o two --jobs 3 > second
runs first | sort > a; runs second | sort | cmp - a && echo "the same runs with three processes"
ls one
tail -n 1 first | sed 's/trial [0-9]*/trial N/' # with equal errors, times decide
enhope info one/best.safetensors | head -n 1
grep '^## ' one/report.md
sed '1,/^## All runs/d' one/report.md | grep -c '^| [0-9]'
# it resumes: completed runs are reused, missing runs are repeated, trials are added
echo "== again"; run $data --trials 5 -o one > again; runs again
echo "== one lost"; rm one/runs/0002-0.json; run $data --trials 5 -o one > again; runs again
echo "== a model lost"; rm one/models/0000-2.safetensors; run $data --trials 5 -o one > again; runs again
echo "== more"; run $data --trials 6 -o one > again; runs again | grep 'trial 5'
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
run --data synthetic:blobs,n=601,classes=10,inputs=40,seed=1 --n-epochs 9 --trials 5 -o one
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
enhope tune --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --for 2s -o short > /dev/null 2>&1
echo "exit $?"
ls short
echo "== Ctrl-C"
: > out
: > err
enhope tune --data synthetic:blobs,n=600,classes=10,inputs=40,seed=1 --trials 50 -o stopped > out 2> err &
tries=0
until grep -q '^trial 0:' out err || [ $tries -ge 2400 ]; do sleep 0.05; tries=$((tries + 1)); done
kill -INT $!
wait $!
echo "exit $?"
tail -n 1 err
ls stopped
enhope info stopped/best.safetensors | head -n 1
