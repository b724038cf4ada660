# en-tsne, pca, lpp and pt-sne train without labels; their models embed but do not classify.
echo a,b,c > x.csv
for i in 1 2 3 4 5 6 7 8 9; do
    for j in 1 2 3; do echo "$i.${j}7,0.$j$i,$((i * j)).5"; done
done >> x.csv
for method in pca lpp "en-tsne --n-factors 8 --n-hidden 7 --n-epochs 2" "pt-sne --hidden-layer-sizes 8-7 --n-epochs 2"; do
    echo "-- ${method%% *}"
    enhope train --data x.csv --method $method --quiet -o m
    echo "exit $?"
    enhope embed m --data x.csv -o y.csv
    echo "exit $?, $(wc -l < y.csv) lines"
    enhope predict m --data x.csv
    echo "exit $?"
done
echo "-- no classes"
enhope info m | grep -e classes -e errors
sed 's/$/,u/; 1s/u$/label/' x.csv > labeled.csv
enhope eval m --data labeled.csv
echo "exit $?"
enhope plot m --data x.csv -o m.svg && grep -c "<" m.svg > /dev/null && grep -o "pt-sne: 27 points" m.svg | head -1
enhope plot m --data labeled.csv -o m.svg && grep -o ">u<" m.svg
enhope plot m --data x.csv --errors -o n.svg
echo "exit $?"
enhope plot m --data x.csv --regions -o n.svg
echo "exit $?"
enhope export m -o m.js
echo "exit $?"
enhope serve m --port 0
echo "exit $?"
enhope update m --data x.csv --quiet -o n
echo "exit $?"
echo "-- the default"
enhope train --data x.csv --label none --n-epochs 2 -o n 2> log | sed 's/ in .*//'
echo "exit $?"
grep "no labels\|neighbors" log
enhope info n | grep -e method -e graph_k
enhope train --data x.csv --label none --n-epochs 2 --graph-k 40 -o n 2>&1 | grep graph_k
enhope info n | grep graph_k
enhope train --data x.csv --label none --graph-k 0 -q -o n
echo "exit $?"
enhope train --data x.csv --label none --limit 2 -q -o n
echo "exit $?"
echo "-- labels are needed"
enhope train --data x.csv --quiet -o n
echo "exit $?"
enhope train --data x.csv --label none --method en-hope --quiet -o n
echo "exit $?"
enhope train --data x.csv --method lpp --graph-k 0 --quiet -o n
echo "exit $?"
