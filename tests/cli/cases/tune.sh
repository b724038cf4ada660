# A search for settings: the same runs for any number of processes, kept and gone on with; nonsense is refused, and Ctrl-C
# loses nothing.
data="--data synthetic:blobs,n=600,classes=10,inputs=40,seed=1 --n-epochs 9"
run() { enhope tune "$@" 2>&1 | sed 's/, [0-9.]* s;/;/'; }
told() { sed -n 's/^\(trial [0-9]*\): [0-9.]* % after \([0-9]*\) epochs.*/\1, \2 epochs/p' "$1"; }
run $data --trials 5 -o one > first
told first
run $data --trials 5 -o two --jobs 3 > second
told first | sort > a; told second | sort | cmp - a && echo "the same runs with three processes"
ls one
tail -n 1 first | sed 's/trial [0-9]*/trial N/' # of equal errors the smaller file, if it is on the frontier: times decide
enhope info one/best.safetensors | head -n 1
grep '^## ' one/report.md
sed '1,/^## All runs/d' one/report.md | grep -c '^| [0-9]'
# it goes on: nothing is done twice, what is missing is done, more trials are added
echo "== again"; run $data --trials 5 -o one > again; told again
echo "== one lost"; rm one/runs/0002-0.json; run $data --trials 5 -o one > again; told again
echo "== a model lost"; rm one/models/0000-2.safetensors; run $data --trials 5 -o one > again; told again
echo "== more"; run $data --trials 6 -o one > again; told again | grep 'trial 5'
# limits of what may be the best
echo "== limits"
run $data --trials 5 -o one --size 1 | tail -n 1
run $data --trials 5 -o one --size 700000 > small
python3 - <<'END'
import os
print("within the limit" if os.path.getsize("one/best.safetensors") <= 700000 else "too large")
END
# other data, other settings, nonsense
echo "== refused"
run $data --trials 5 -o one --n-components 3
run --data synthetic:blobs,n=601,classes=10,inputs=40,seed=1 --n-epochs 9 --trials 5 -o one
for bad in "--for 10" "--for never" "--for -3m" "--trials 1" "--recipe best" "--validation-fraction 0" "--n-factors no" "--jobs 0"; do
    enhope tune $data -o no $bad > /dev/null 2> err && echo "taken: $bad"
    cat err
done
enhope tune 2>&1
enhope tune --data - 2>&1
enhope tune --data nowhere.csv --trials 3 -o no 2>&1
echo "exit $?"
# a short time is kept
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
