# Every command gives the same output for streamed data and for data in memory.
enhope convert --data synthetic:digits,n=3000,seed=2 --shard-rows 700 -o digits -q
enhope train --data digits --n-epochs 2 --n-factors 20 --n-hidden 10 --random-state 1 -q -o model
for command in 'embed model' 'predict model --proba --winner' 'eval model --json --reject margin' 'eval model --json --reject distance' data; do
    enhope $command --data digits | grep -v 'second\|training_rows' > whole
    enhope $command --data digits --memory 1MB | grep -v 'second\|training_rows' > streamed
    cmp whole streamed && echo "$command: the same"
done
enhope embed model --data digits -o whole.npy && enhope embed model --data digits --memory 1MB -o streamed.npy &&
    cmp whole.npy streamed.npy && echo "embed to NPY: the same"
python3 - > words.svm <<'PYTHON'
for i in range(400):
    print(i % 3, " ".join("%d:%g" % (j + 1, 1 + i % 3 * 0.5 + j * i % 7) for j in range(i % 3, 40, 2 + i % 5)))
PYTHON
enhope convert --data words.svm --shard-rows 90 -o words -q
enhope train --data words --n-epochs 2 --n-factors 5 --n-hidden 4 --random-state 1 --order 1 -q -o words.model
for command in 'embed words.model' 'predict words.model --proba' 'eval words.model --json'; do
    enhope $command --data words | grep -v 'second\|training_rows' > whole
    enhope $command --data words --memory 1k | grep -v 'second\|training_rows' > streamed
    cmp whole streamed && echo "$command: the same"
done
# Streamed data has the same default similarity.
enhope train --data digits --n-epochs 1 --n-factors 20 --n-hidden 10 -q -o spread
enhope train --data digits --n-epochs 1 --n-factors 20 --n-hidden 10 --memory 1MB -q -o spread.streamed
for model in spread spread.streamed; do enhope info $model | grep '^  dof\|^  aux'; done
enhope data digits --memory 1MB --limit 20 | head -2
enhope data digits --memory 1MB --limit 2500 | head -2
enhope plot model --data digits --memory 1MB
echo "exit $?"
enhope data digits --memory 1MB --split 100@1
echo "exit $?"
enhope data digits --memory little
echo "exit $?"
enhope data digits --memory 5
echo "exit $?"
