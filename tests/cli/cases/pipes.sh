# CSV on standard input, results on standard output; a closed pipe gives no message.
cat > train.csv <<'END'
a,b,label
0.1,0.2,red
0.15,0.22,red
0.12,0.19,red
9.1,9.3,blue
9.4,9.2,blue
9.2,9.1,blue
END
enhope train --data - --n-factors 4 --n-hidden 3 --n-epochs 10 --validation-fraction 0 --batch-size 0 --n-neighbors 1 -z 2 --quiet < train.csv
printf 'a,b\n9.15,9.25\n0.11,0.2\n' | enhope predict model.safetensors --data - --label none -o -
enhope data - < train.csv
enhope embed model.safetensors --data synthetic:blobs,n=20000,classes=3,inputs=2,seed=1 | head -n 1
enhope predict model.safetensors --data train.csv > /dev/full
echo "exit $?"
enhope predict model.safetensors --data train.csv -o /dev/null
echo "exit $?"
