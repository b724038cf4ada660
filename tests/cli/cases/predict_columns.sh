# predict writes the columns of --id, or the number of the row in its file, first, and those of --keep last.
cat > people.csv <<'DATA'
name,age,height,town,label
"Li, An",21,1.5,Ulm,young
Bo,64,1.7,Rom,old
Cy,23,1.6,Ulm,young
Da,71,1.8,"Bonn ""am"" Rhein",old
Ed,25,1.9,Rom,young
Fi,69,1.4,Ulm,old
DATA
enhope train --data people.csv --id name --ignore town --n-epochs 5 --validation-fraction 0 --quiet -o m
enhope predict m --data people.csv --id name --keep town,label
enhope predict m --data people.csv --split 3@1 | cut -d, -f1
enhope predict m --data people.csv --id name,town -o p.jsonl
head -n 2 p.jsonl
enhope predict m --data people.csv --keep town -o p.npz
python3 -c "
import zipfile
print(zipfile.ZipFile('p.npz').namelist())"
enhope predict m --data people.csv --keep size
echo "exit $?"
enhope predict m --data people.csv --keep town -o p.npy
echo "exit $?"
