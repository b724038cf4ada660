# predict --data - reads CSV and JSON lines, line by line, with the columns of the model.
cat > people.csv <<'DATA'
name,age,height,town,born,label
"Li, An",21,1.5,Ulm,2001-02-03,young
Bo,64,1.7,Rom,1960-05-06,old
Cy,23,1.6,Ulm,1999-12-31,young
Da,71,1.8,"Bonn ""am"" Rhein",1950-01-01,old
Ed,25,1.9,Rom,1998-03-04,young
Fi,69,,Ulm,1952-07-08,old
DATA
enhope train --data people.csv --id name --n-epochs 5 --validation-fraction 0 --quiet -o m
enhope predict m --data people.csv --id name --keep town,label --proba -o whole.csv
cat people.csv | enhope predict m --data - --id name --keep town,label --proba -o lines.csv
cmp whole.csv lines.csv && echo "as from the file"
gzip -c people.csv | enhope predict m --data - --id name --keep town,label --proba | cmp - whole.csv && echo "compressed, too"
echo "-- JSON lines"
enhope predict m --data - --id name --keep town --format jsonl <<'DATA'
{"name": "Zoé", "age": 30, "height": null, "town": "Ulm", "born": "1970-01-01", "more": [1, {"a": 2}]}
{"town": "\u0052om", "age": 66.5, "height": 1.2, "born": "1955-01-01", "name": "a \"b\""}
DATA
printf '[21,1.5,"Ulm","2001-02-03"]\n[64,1.7,"Rom","1960-05-06"]\n' | enhope predict m --data - --format tsv
echo "-- lines that cannot be read"
printf 'age,height,town,born\n21,1.5,Ulm,2001-02-03\n22,x,Ulm,2001-02-03\n23,1.5,Ulm,2001-02-03\n' > bad.csv
enhope predict m --data - < bad.csv
echo "exit $?"
enhope predict m --data - --skip-bad < bad.csv
echo "exit $?"
printf '{"age":21,"height":1.5,"town":"Ulm","born":null}\n{"age":21,"height":1.5}\n{"age":\n' > bad.jsonl
enhope predict m --data - < bad.jsonl
echo "exit $?"
enhope predict m --data - --skip-bad --format json < bad.jsonl
echo "exit $?"
printf '{"age":21}\n' | enhope predict m --data -
echo "exit $?"
enhope predict m --data - < /dev/null
echo "exit $?"
enhope predict m --data - --format npz < people.csv
echo "exit $?"
echo "-- limits and files"
enhope predict m --data - --limit 2 --id name < people.csv
enhope predict m --data - --id name -o labels.npy < people.csv && wc -c < labels.npy
enhope predict m --data - --split 3@1 --id name < people.csv | wc -l
enhope predict m --data - -o kept.csv < people.csv && head -n 2 kept.csv
enhope predict m --data - -o kept.csv < bad.csv
echo "exit $?"
head -n 2 kept.csv
echo "-- rows that overflow the map"
printf 'a,b,label\n' > far.csv
for i in 1 2 3 4 5 6 7 8 9; do echo "0.$i,0.2$i,x"; echo "0.5$i,0.9$i,y"; done >> far.csv
enhope train --data far.csv --order 3 --n-epochs 5 --validation-fraction 0 --random-state 1 --quiet -o far
printf 'a,b\n0.1,0.2\n0.51,0.93\n1e29,0.3\n0.4,0.2\n' > rows.csv
enhope predict far --data - < rows.csv
echo "exit $?"
enhope predict far --data - --skip-bad < rows.csv
echo "exit $?"
enhope predict far --data rows.csv --skip-bad -o rows.npy && head -c 128 rows.npy | tr -cd '[:print:]' | grep -o "'shape': ([0-9,]*)"
enhope embed far --data rows.csv
echo "exit $?"
sed 's/$/,x/; 1s/,x/,label/' rows.csv > rows2.csv
enhope eval far --data rows2.csv
echo "exit $?"
