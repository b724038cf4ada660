# Points of an unknown class count as errors and are reported. Data without labels, or without a class
# that the model knows, cannot be evaluated.
cat > train.csv <<'END'
a,b,label
0.1,0.2,red
0.15,0.22,red
0.12,0.19,red
9.1,9.3,blue
9.4,9.2,blue
9.2,9.1,blue
END
cat > test.csv <<'END'
a,b,label
0.13,0.21,red
9.3,9.2,blue
4.4,4.5,green
END
enhope train --data train.csv --n-factors 4 --n-hidden 3 --n-epochs 10 --validation-fraction 0 --batch-size 0 --n-neighbors 1 -z 2 --quiet
enhope eval model.safetensors --data test.csv | sed '/^time:/d; /^probabilities/s/[0-9.]\{3,\}/#/g'
enhope plot model.safetensors --data test.csv -o - | grep -c '>unknown class<'
cut -d, -f1,2 test.csv > points.csv
enhope eval model.safetensors --data points.csv --label none
echo "exit $?"
sed 's/red/1/; s/blue/2/; s/green/3/' test.csv > coded.csv
enhope eval model.safetensors --data coded.csv
echo "exit $?"
