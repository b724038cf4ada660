# Text forms of tables that spreadsheets write. Each is read, or reported, and never misread silently.
try() { enhope "$@" 2>&1; echo "exit $?"; }
awk 'BEGIN { print "size;weight;kind"; for (i = 0; i < 24; i++)
    printf "%d,%d;%d,5;%s\n", 4 + i % 3, i % 10, i % 7, i % 2 ? "oak" : "elm" }' > comma.csv
# the first line names the delimiter
{ printf 'sep=;\r\n'; cat comma.csv; } > excel.csv
try data excel.csv | grep -E "size|weight|label|exit"
enhope train --data excel.csv --quiet --n-epochs 2 -o m.safetensors
enhope predict m.safetensors --data excel.csv > a
enhope predict m.safetensors --data comma.csv > b
cmp a b && echo "same predictions"
{ printf 'sep=;\n'; sleep 0.3; cat comma.csv; } | enhope predict m.safetensors --data - | cmp - b && echo "same predictions"
enhope predict m.safetensors --data excel.csv --delimiter ';' | cmp - b && echo "same predictions"
enhope predict m.safetensors --data - --delimiter ';' < excel.csv | cmp - b && echo "same predictions"
# without a header, there are as many decimal commas as semicolons
sed 1d comma.csv > bare.csv
try data bare.csv | grep -E "column|label|exit"
enhope predict m.safetensors --data bare.csv | cmp - b && echo "same predictions"
cut -d';' -f1,2 bare.csv > inputs.csv
enhope predict m.safetensors --data inputs.csv | cmp - b && echo "same predictions"
tr ';' '\t' < bare.csv > tabs.txt
enhope predict m.safetensors --data tabs.txt | cmp - b && echo "same predictions"
printf '5,1;2,a\n6,3;4,b\n' > lists.csv # commas with something else than digits separate fields
try data lists.csv --label 3 | grep -E "^  column|exit"
# lines end with a delimiter: the last column has no values and cannot be the label
sed 's/$/;/' comma.csv > end.csv
try data end.csv | grep -E "label|exit"
# the same before a column of codes: integers with many values are no label
awk 'BEGIN { print "x,n,"; for (i = 0; i < 60; i++) printf "%d.5,%d,\n", i % 7, i * 17 % 59 }' > many.csv
try train --data many.csv --quiet -o no.safetensors
# lines that end with a carriage return alone would be one record
tr '\n' '\r' < comma.csv > mac.csv
try data mac.csv
# other delimiters
tr ';' '|' < comma.csv > bar.csv
try data bar.csv
try data bar.csv --delimiter '|' | grep -E "size|weight|label|exit"
# numbers that would be texts
awk 'BEGIN { print "people,size,price,code,net,kind"; for (i = 0; i < 24; i++)
    printf "\"%d,%03d\",1\047%03d,$%d.50,%s,10.0.0.%d,%s\n", 1 + i % 4, 100 * (i % 5), 100 + i % 5, i % 6, i % 3 ? "A1" : "B2", i % 4, i % 2 ? "oak" : "elm" }' > towns.csv
try data towns.csv | grep -E "^warning|people|size|price|code|net|exit"
awk -F';' 'NR == 1 { print "people;" $0 } NR > 1 { printf "%d.%03d;%s\n", 1 + NR % 4, 100 * (NR % 5), $0 }' comma.csv > both.csv
try data both.csv | grep -E "^warning|people|size|exit"
try data both.csv --decimal , | grep -E "^warning|people|size|exit"
try data towns.csv --categorical size,price | grep -E "^warning|exit"
# a comma that may separate thousands
awk 'BEGIN { print "people;size;kind"; for (i = 0; i < 24; i++)
    printf "%d,%03d;%d;%s\n", 1 + i % 4, 100 + 10 * i, i % 7, i % 2 ? "oak" : "elm" }' > thousands.csv
try data thousands.csv | grep -E "1,234|people|exit"
try data thousands.csv --decimal , | grep -E "1,234|people|exit"
# separators of thousands do not decide the decimal point of other columns
awk 'BEGIN { print "people,size,kind"; for (i = 0; i < 24; i++)
    printf "\"%d,%03d\",%d.5,%s\n", 1 + i % 4, 10 * i, i % 7, i % 2 ? "oak" : "elm" }' > quoted.csv
awk -F'[",]' 'NR == 1 { print "people;size;kind" } NR > 1 { print $2 "," $3 ";" $5 ";" $6 }' quoted.csv > points.csv
enhope train --data quoted.csv --label kind --quiet --n-epochs 2 -o p.safetensors
enhope predict p.safetensors --data quoted.csv > b
enhope predict p.safetensors --data points.csv | cmp - b && echo "same predictions"
