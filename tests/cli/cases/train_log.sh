# --log writes one JSON object per epoch.
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-factors 8 --n-hidden 6 --n-epochs 3 --batch-size 40 \
    --validation-fraction 0.2 \
    --quiet --log run.jsonl -o m.safetensors
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-factors 8 --n-hidden 6 --n-epochs 2 --batch-size 40 \
    --validation-fraction 0 \
    --quiet --log blind.jsonl -o blind.safetensors
python3 - <<'END'
import json
for name in "run.jsonl", "blind.jsonl":
    rows = [json.loads(line) for line in open(name)]
    print([row["epoch"] for row in rows], sorted(rows[0]), [row["valid_error"] is None for row in rows])
    assert all(a["seconds"] <= b["seconds"] for a, b in zip(rows, rows[1:]))
    assert all(isinstance(row["loss"], float) for row in rows)
END
enhope train --data synthetic:blobs,n=90,seed=3 --log no/such/folder.jsonl --quiet -o x.safetensors
echo "exit $?"
ls
