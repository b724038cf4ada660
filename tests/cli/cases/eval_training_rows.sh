# eval warns if rows of the data have trained the model; info prints what the model was trained on.
data=synthetic:blobs,n=1200,classes=3,inputs=4,spread=0.4,seed=3
train="--n-factors 8 --n-hidden 6 --n-epochs 2 --quiet"
enhope train --data $data --split 800@1 $train -o m.safetensors
for split in 800@1 800@2; do
    echo "== $split"
    enhope eval m.safetensors --data $data --split $split > /dev/null
done
enhope eval m.safetensors --data $data --split 800@2 --references kmeans > /dev/null
enhope eval m.safetensors --data $data --split 800@2 --json 2> /dev/null |
    python3 -c "import json, sys; r = json.load(sys.stdin)['training_rows']; print(list(r), r['warning'], 40 < r['share_percent'] < 90)"
enhope info m.safetensors | grep '^trained'
enhope info m.safetensors --json | grep training_data
# many equal rows: other rows of the same table equal training rows, too
python3 - <<'PYTHON'
with open("equal.csv", "w") as file:
    print("a,b,label", file=file)
    for i in range(900):
        print(f"{i % 7},{i % 11},{'xy'[i % 7 > 3]}", file=file)
PYTHON
enhope train --data equal.csv --split 600@1 $train -o e.safetensors
enhope eval e.safetensors --data equal.csv --split 600@1 > /dev/null
enhope info e.safetensors | grep '^trained'
# the model is byte-identical for any number of threads
enhope train --data $data --split 800@1 $train --threads 1 -o one.safetensors
cmp m.safetensors one.safetensors && echo "byte-identical"
