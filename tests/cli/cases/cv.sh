# Cross-validation: folds, repeats, predictions of samples that a model has not seen, errors.
awk 'BEGIN { srand(3); print "a,b,c,kind"
    for (i = 0; i < 90; i++) { k = i % 3; printf "%.3f,%.3f,%.3f,%s\n", k * 2.1 + rand(), 1.7 * rand() - k, rand(), i % 30 == 7 ? "" : substr("xyz", k + 1, 1) } }' > t.csv
run() { enhope cv --data t.csv --label kind --n-epochs 5 "$@" | sed 's/[0-9.]* s for/N s for/; s/[0-9.]* s per/N s per/'; }
run > once
run --jobs 3 --threads 1 | cmp - once && echo "the same results with three processes"
sed 's/[0-9.]*[0-9]$/N/; s/[0-9]*\.[0-9]* */N /g' once
echo "== repeats"
run --folds 3 --repeats 2 --verbose --proba -o all.csv > report
grep -c '^ *[12]  *[123]  *29 ' report
head -n 1 all.csv
cut -d, -f1 all.csv | sort | uniq -c
cut -d, -f2 all.csv | sort -n | uniq -c | awk '{ print $1 }' | sort | uniq -c # every labeled row twice, and the header
python3 - <<'END'
import csv, json, subprocess
rows = list(csv.DictReader(open("all.csv")))
wrong = sum(row["label"] != row["predicted"] for row in rows)
total = [sum(float(row["p(%s)" % k]) for k in "xyz") for row in rows]
text = subprocess.check_output("enhope cv --data t.csv --label kind --n-epochs 5 --folds 3 --repeats 2 --json", shell=True)
found = json.loads(text)
print("errors", "agree" if wrong == sum(m["errors"] for m in found["models"]) else "differ")
print("probabilities", "add up" if max(abs(t - 1) for t in total) < 1e-4 else total)
print(found["n"], found["classes"], found["folds"], found["repeats"], len(found["models"]), sorted(found["error_percent"]))
END
echo "== groups" # texts are categories; samples of a patient are in one fold
awk -F, 'NR == 1 { print "color,size,patient,kind" } NR > 1 { print (NR % 3 ? "red" : NR % 5 ? "green" : "blue") "," $1 ",p" NR % 13 "," $4 }' t.csv > g.csv
enhope cv --data g.csv --label kind --n-epochs 3 --group patient -o folds.csv 2> err | head -n 1
head -n 1 folds.csv
cut -d, -f1,3 folds.csv | sort -u | wc -l # 13 patients and the header
enhope cv --data g.csv --label kind --n-epochs 3 --group patient --folds 14 2>&1 | tail -n 1
enhope cv --data g.csv --label kind --n-epochs 3 --group nobody 2>&1 | tail -n 1
echo "== refused"
for bad in "--folds 1" "--folds 88" "--repeats 0" "--n-factors no" "--method no"; do
    enhope cv --data t.csv --label kind $bad
    echo "exit $?"
done 2>&1
enhope cv 2>&1
cut -d, -f1-3 t.csv > inputs.csv
enhope cv --data inputs.csv --label none 2>&1
enhope cv --data t.csv -o t.csv 2>&1
true
