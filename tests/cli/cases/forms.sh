# Dates that begin with the day or the month, and percentages.
for i in 1 2 3 4 5 6 7 8 9; do
    echo "$((i + 11)).0$i.2019,$i/$((i + 10))/2020,0$i/0$((10 - i))/2020,$((3 * i)).5%,low"
    echo "$i.1.2021,1$((i % 3))/2$i/2021,0$((10 - i))/0$i/2021,$((90 - i)) %,high"
done > body.csv
(echo day,month,unclear,share,label; grep -v '/29/\|^9' body.csv) > t.csv
head -3 t.csv
enhope data t.csv
enhope train --data t.csv --n-epochs 20 --validation-fraction 0 --random-state 1 --quiet -o m
echo "-- predictions"
sed 's/,label$//; s/,low$//; s/,high$//' t.csv > x.csv
enhope predict m --data x.csv > whole.csv
head -3 whole.csv
enhope predict m --data - < x.csv | cmp - whole.csv && echo "the same line by line"
sed '1!s/^\([0-9]*\)\.\([0-9]*\)\./\1-\2-/' x.csv | enhope predict m --data - | cmp - whole.csv && echo "the same with hyphens"
printf 'day,month,unclear,share\n13.02.2019,2/12/2020,01/02/2020,0.15\n' | enhope predict m --data -
echo "exit $?"
printf 'day,month,unclear,share\n02/13/2019,2/12/2020,01/02/2020,15%%\n' | enhope predict m --data -
echo "exit $?"
echo "-- thousands"
for i in 1 2 3 4 5 6 7 8 9; do
    echo "\"$i,$i$i$i\",$i,low"
    echo "$((i * 90)),-$i,high"
done > body.csv
(echo people,change,label; cat body.csv) > p.csv
enhope data p.csv | grep people
enhope train --data p.csv --n-epochs 20 --validation-fraction 0 --random-state 1 --quiet -o m
enhope predict m --data p.csv --label none > a
sed 's/^"\([0-9]\),/\1/; s/"//' p.csv > plain.csv
enhope predict m --data plain.csv --label none | cmp - a && echo "the same without separators"
tr ',' ';' < plain.csv | sed 's/^\([0-9]\)\([0-9]\{3\}\);/\1,\2;/' > semicolons.csv
enhope predict m --data semicolons.csv --label none | cmp - a && echo "the same with semicolons"
printf '{"people":"4,444","change":1}\n' | enhope predict m --data - | tail -1
printf 'people,change\n"44,44",2\n' | enhope predict m --data -
echo "exit $?"
