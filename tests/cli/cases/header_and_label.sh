# The header and the label column are detected, printed, and never guessed for a model.
try() { enhope "$@" 2>&1; echo "exit $?"; }
# a header of numbers is no sample and no class
awk 'BEGIN { print "0,1,2,3,species"; for (i = 0; i < 30; i++)
    printf "%d.%d,3.%d,%d.4,0.%d,%s\n", 4 + i % 3, i % 10, i % 7, 1 + 3 * (i % 2), i % 5, i % 2 ? "virginica" : "setosa" }' > iris.csv
try data iris.csv | grep -v "^  [0-3s]"
try data iris.csv --header no | grep -E "header|classes|samples|exit"
# the last column, although another one is called y
awk 'BEGIN { print "x,y,z,w,activity"; for (i = 0; i < 58; i++)
    printf "%d.5,%d.25,%d.5,%d.125,%s\n", i % 7, i, i % 13, i, i % 2 ? "walk" : "sit" }' > moves.csv
try data moves.csv | grep -E "label|classes"
# no column can be the label
awk 'BEGIN { print "a,b,c"; for (i = 0; i < 58; i++) printf "%d.5,%d.25,%d\n", i % 7, i, i * 16 % 51 }' > plain.csv
try train --data plain.csv --quiet -o no.safetensors
try train --data plain.csv --label c --quiet -o no.safetensors
try train --data plain.csv --label b --quiet -o no.safetensors
# with a model, the columns of a file without a header must fit
enhope train --data moves.csv --n-epochs 2 --quiet -o m.safetensors
sed 1d moves.csv | cut -d, -f1-4 > inputs.csv
try predict m.safetensors --data inputs.csv | head -n 2
awk -F, '{ print 7 * NR "," $0 }' inputs.csv > ids.csv
try predict m.safetensors --data ids.csv
try predict m.safetensors --data ids.csv --id 1 | head -n 2
awk -F, '{ print NR "," $1 "," $2 "," $3 "," (NR % 2 ? "walk" : "sit") }' inputs.csv > counted.csv
try predict m.safetensors --data counted.csv
awk -F, '{ print NR ",u," $0 }' inputs.csv > ids.csv
try predict m.safetensors --data ids.csv
try predict m.safetensors --data ids.csv --ignore 1,2 | head -n 2
sed 1d moves.csv > labeled.csv
try eval m.safetensors --data labeled.csv | grep -c "^error: "
# the label is in its place also if it is not the last column
awk -F, '{ print $5 "," $1 "," $2 "," $3 "," $4 }' moves.csv > first.csv
enhope train --data first.csv --label activity --n-epochs 2 --quiet -o f.safetensors
sed 1d first.csv > first_labeled.csv
enhope predict f.safetensors --data first_labeled.csv > a
enhope predict f.safetensors --data first.csv > b
cmp a b && echo "same predictions"
