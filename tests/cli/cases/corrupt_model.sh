# Truncated, empty, malicious and non-model files are refused with a message.
try() { enhope "$@"; echo "exit $?"; }
enhope train --data synthetic:blobs,n=60,classes=3,inputs=5,seed=1 --n-factors 4 --n-hidden 3 --n-epochs 1 --quiet \
    -o m.safetensors
: > empty.safetensors
printf 'hello' > short.safetensors
printf 'a,b,label\n1,2,x\n3,4,y\n' > table.csv
head -c 300 m.safetensors > head.safetensors
head -c -100 m.safetensors > cut.safetensors
python3 - <<'END'
import json, struct
raw = open("m.safetensors", "rb").read()
length = struct.unpack("<Q", raw[:8])[0]
header, body = json.loads(raw[8:8 + length]), raw[8 + length:]
def write(name, head, payload=body, declared=None):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text) if declared is None else declared) + text + payload)
write("huge.safetensors", header, declared=2**63)
write("notjson.safetensors", b"{" + b" " * 40)
overlap = json.loads(json.dumps(header)); overlap["scale.mul"]["data_offsets"] = overlap["scale.shift"]["data_offsets"]
write("overlap.safetensors", overlap)
missing = json.loads(json.dumps(header)); del missing["__metadata__"]["classes"]
write("missing.safetensors", missing)
wide = json.loads(json.dumps(header)); wide["map.C"]["shape"] = [2**40, 2**40]
write("wide.safetensors", wide)
END
exec 3>&2 2> messages
for name in absent empty short head cut huge notjson overlap missing wide; do try info $name.safetensors; done
try eval table.csv --data table.csv
sed 's/length [0-9]* reaches/length # reaches/' messages >&3 # the header grows with the settings
