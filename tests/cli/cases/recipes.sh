# Recipes: the table as text and JSON; --recipe is applied first, other options override it, and the
# model stores its name.
enhope recipes
enhope recipes --json | python3 -c 'import json, sys; print([(r["name"], r["settings"]["order"]) for r in json.load(sys.stdin)])'
blobs="--data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --n-epochs 1 --quiet"
setting() { enhope info "$1" --json | python3 -c 'import json, sys
s = json.load(sys.stdin)["settings"]
print(*(f"{name} {s[name]}" for name in sys.argv[1:]))' recipe n_factors n_hidden order target_weight solver n_epochs batch_size noise patience; }
enhope train $blobs -o m.safetensors && setting m.safetensors
enhope train $blobs --n-factors 7 --recipe paper --solver adam -o m.safetensors && setting m.safetensors
enhope train $blobs --recipe small --n-factors 9 -o m.safetensors && setting m.safetensors
enhope train $blobs --recipe small --method hope -o m.safetensors && setting m.safetensors # no head applies
enhope train $blobs --recipe slow -o m.safetensors
echo "exit $?"
# the defaults work with few samples
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 --quiet -o m.safetensors
enhope eval m.safetensors --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 | head -n 1
