# New data: rows without a label, columns in another order, a named pipe, an output file that is an input.
cat > t.csv <<END
petal,sepal,species
1.1,5.0,oak
1.3,5.2,oak
1.2,4.9,oak
3.9,2.1,elm
4.1,2.0,elm
4.0,2.3,elm
END
enhope train --data t.csv --label species --n-factors 4 --n-hidden 3 --validation-fraction 0 --n-epochs 10 --quiet -o m.safetensors > /dev/null
printf '1.2,5.1\n4.0,2.2\n' | enhope predict m.safetensors --data -
printf 'sepal,petal\n5.1,1.2\n' > swapped.csv
enhope predict m.safetensors --data swapped.csv
echo $?
mkfifo pipe
cat t.csv > pipe &
enhope data pipe | grep -A 1 '^data'
# An array of float64 in a pipe cannot be read twice, as centering requires.
mkfifo pipe.npy
python3 -c 'import struct, sys
head = "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (5, 2)}".ljust(117) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<10d", *range(10)))' > pipe.npy &
enhope data pipe.npy | grep ^samples
cp t.csv kept.csv
enhope train --data t.csv --quiet -o t.csv
echo $?
enhope predict m.safetensors --data t.csv -o t.csv
echo $?
enhope plot m.safetensors --data t.csv --format svg -o m.safetensors
echo $?
cmp t.csv kept.csv && echo kept
enhope train --data t.csv --method knn -o k.safetensors 2> /dev/null | sed "s/ ([0-9.]* kB)//"
enhope predict k.safetensors --data t.csv --proba -k 3 | head -n 2
