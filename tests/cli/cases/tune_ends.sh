# A search and a cross-validation end with a result or a reason: a run that is longer than the time, runs
# that are killed, settings that fail, Ctrl-C.
data="--data synthetic:blobs,n=2200,classes=3,inputs=2,seed=1"
small="--n-factors 5 --n-hidden 4 --order 1 --noise 0 --dropout 0 --learning-rate 0.01 --batch-size 500"
echo "== a run that is longer than the time has fewer epochs"
for seconds in 4 20 60; do # the first epoch of the defaults must end in a thirteenth of the time
    enhope tune $data $small --n-exemplars 3 --n-epochs 1000000 --for ${seconds}s -o short > out 2> err && break
done
grep -q '^The model is in short/best.safetensors' out && echo "a model"
grep -o '^trial 0: .* s (shortened by the time limit)' err | sed 's/[0-9][0-9.]*/N/g' | sort -u
enhope info short/best.safetensors | head -n 1
cat > killed.py <<'END'
"""Runs a command, and after a line that begins with WAIT sends KILL to its jobs until one is reported, or INT to itself."""
import os, signal, subprocess, sys, time
wait, number, *words = sys.argv[1:]
process = subprocess.Popen(words, stderr=open("err", "w"), stdout=subprocess.DEVNULL)
while process.poll() is None:
    time.sleep(0.01)
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
        jobs = [int(job) for job in children.read().split()]
    lines = open("err").read().split("\n")
    if not jobs or not any(line.startswith(wait) for line in lines) or any("signal 9" in line for line in lines):
        continue
    if number == "INT":
        process.send_signal(signal.SIGINT)
        break
    for job in jobs:
        try:
            os.kill(job, signal.SIGKILL)
        except ProcessLookupError:
            pass
print("exit", process.wait())
END
echo "== killed"
long="$data --n-factors 300 --n-hidden 200 --order 1 --noise 0 --dropout 0 --learning-rate 0.01 --n-exemplars 3 --n-epochs 300"
python3 killed.py '' KILL enhope tune $long --batch-size 20 --trials 3 --jobs 1 -o first
tail -n 1 err
python3 killed.py 'trial 1:' KILL enhope tune $data $small --n-epochs 100 --trials 5 --jobs 1 -o later
grep -c '^trial [1-9] failed: it was ended by signal 9' err
python3 killed.py '' KILL enhope cv $long --batch-size 20 --jobs 2
tail -n 1 err
python3 killed.py '' INT enhope cv $long --batch-size 20 --jobs 2
sed -n 's/after [0-4] of/after N of/; /^enhope: stopped/p' err
echo "== refused"
refused() {
    enhope "$@"
    echo "exit $?"
}
refused tune $data $small --trials 2 -o no --n-exemplars 5000 2>&1 | grep -v '^scaling'
refused tune $data --trials 2 -o no --method pca 2>&1
refused tune $data --trials 2 -o no --class-weight 'red oak=2,c=1' 2>&1
refused cv $data -o no.npy 2>&1
echo "== on another device"
refused tune $data $small --n-epochs 2 --n-exemplars 3 --trials 2 -o ref --device ref --random-state 7 2> err |
    sed -n 's/\. The search.*//; /^2 trials/p; /exit/p'
python3 -c 'import glob, json; print(all(json.load(open(f))["microseconds_per_row"] > 0 for f in glob.glob("ref/runs/*.json")))'
