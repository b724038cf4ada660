# Missing, truncated, mismatched, damaged and malicious shards, and a full disk: a message, and no data is lost.
enhope convert --data synthetic:blobs,n=90,inputs=3 --shard-rows 30 -o good -q
bad() { # COMMAND: runs it in a copy of the shards
    rm -rf bad
    cp -r good bad
    sh -c "$1"
    enhope data bad > /dev/null
    code=$?
    enhope data bad --memory 1k > /dev/null 2>&1
    echo "exit $code, $?"
}
bad 'rm bad/00001.x.npy'
bad 'truncate -s -4 bad/00001.x.npy'
bad 'cp bad/00001.y.npy bad/00001.x.npy'
bad 'sed -i "s/(30, 3)/(45, 2)/" bad/00002.x.npy'
bad 'rm bad/00000.y.npy'
bad 'sed -i "s/\"rows\": 30/\"rows\": 31/" bad/shards.json'
bad 'sed -i "s/\"samples\": 90/\"samples\": 9e15/" bad/shards.json'
bad 'sed -i "s/\"inputs\": 3/\"inputs\": 3000000000/" bad/shards.json'
bad 'sed -i "s/\"inputs\": 3/\"inputs\": 4/" bad/shards.json'
bad 'sed -i "s/00001.x.npy/..\/good\/00001.x.npy/" bad/shards.json'
bad 'sed -i "s/\"0\", \"1\"/\"0\", \"0\"/" bad/shards.json'
bad 'sed -i "s/\"0\", \"1\", //" bad/shards.json'
bad 'sed -i "s/\"version\": 1/\"version\": 3/" bad/shards.json'
bad 'sed -i "s|\"image\": null|\"image\": [1.5, 2]|" bad/shards.json'
columns() { # JSON: puts it into the list
    bad "sed -i 's|\"shards\": \\[|\"columns\": $1, &|' bad/shards.json"
}
columns '[]'
columns '{"columns": [{"name": "a", "type": "number"}]}'
columns '{"columns": [{"name": "a", "type": "category", "categories": ["x", "y", "x"]}]}'
columns '{"columns": [{"name": "a", "type": "category", "categories": ["x", "y", "z"]}]}'
bad 'rm bad/00001.x.npy; mkfifo bad/00001.x.npy'
enhope data bad --check
bad 'gzip bad/00001.x.npy; mv bad/00001.x.npy.gz bad/00001.x.npy'
bad 'truncate -s 200 bad/shards.json'
bad "printf '[%.0s' \$(seq 40) > bad/shards.json"
bad "yes , | head -n 4000000 > bad/shards.json"
bad 'echo "{}" > bad/shards.json'
bad ': > bad/shards.json'
bad 'rm bad/shards.json'
bad 'mv bad/shards.json bad/shards.partial.json'

# The checksum reveals a changed byte, when the shards are checked and when they are used.
cp good/00001.x.npy kept
printf '\1' | dd of=good/00001.x.npy bs=1 seek=200 conv=notrunc 2> /dev/null
enhope data good --check 2>&1 | sed 's/[0-9a-f]\{8\}/SUM/g'
enhope data good 2>&1 | sed 's/[0-9a-f]\{8\}/SUM/g'
enhope train --data good --memory 1k --n-factors 4 --n-hidden 3 --quiet -o m.safetensors 2>&1 | sed 's/[0-9a-f]\{8\}/SUM/g'
cp kept good/00001.x.npy
enhope data good --check

# A full disk: complete shards remain, and the same command resumes.
(
    ulimit -f 40
    enhope convert --data synthetic:digits,n=100 --shard-rows 20 -o small -q && echo "enough space"
    enhope convert --data synthetic:digits,n=100 --shard-rows 60 -o full -q
    echo "exit $?"
)
enhope convert --data synthetic:digits,n=100 --shard-rows 60 -o full -q && enhope data full --check
: > file
enhope convert --data synthetic:blobs -o file
enhope convert --data synthetic:blobs -o file/folder
enhope convert --data synthetic:blobs -o /proc/none
printf 'a,b,label\n1,2,x\n3,oak,y\n' > bad.csv
enhope convert --data bad.csv -o bad_rows
test -e bad_rows || echo "no folder remains"
