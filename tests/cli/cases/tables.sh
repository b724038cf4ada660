# Tables of everyday columns: types, options, the table of columns, problems with their solutions.
try() { enhope "$@"; echo "exit $?"; }
cat > people.csv <<TABLE
person,age,town,joined,smoker,income,species
a1,23,Rome,2021-03-04,yes,1200.5,oak
a2,45,Oslo,2020-01-31,no,NA,elm
a3,31,Rome,2019-12-01,yes,900,oak
a4,,Bern,2022-06-07,no,1500,elm
a5,28,Oslo,2021-10-11,yes,1000.25,oak
a6,61,Bern,2018-05-05,no,2100,elm
TABLE
try data people.csv --id person
enhope data people.csv --id 1 --json | python3 -c '
import json, sys
for c in json.load(sys.stdin)["columns"]: print(c["name"], c["type"], c["use"], c["missing"], c["inputs"], c["categories"])'
try data people.csv --ignore person,town,joined --missing drop
try data people.csv --missing error
enhope train --data people.csv --id person --n-epochs 3 --validation-fraction 0 --quiet -o m.safetensors
# any order of columns, new columns, unknown categories, missing values
printf 'extra,smoker,town,income,age,joined\n1,yes,Rome,1100,24,2021-04-04\n2,no,Paris,,50,2019-04-04\n' > new.csv
try predict m.safetensors --data new.csv
printf 'smoker,town,income,years\nyes,Rome,1100,24\n' > wrong.csv
try predict m.safetensors --data wrong.csv
# delimiters and decimal commas
printf 'w;h;kind\n1,5;2,25;oak\n2,5;3;elm\n3,5;1,125;oak\n' > comma.csv
try data comma.csv
printf 'w|h|kind\n1.5|2.25|oak\n2.5|3|elm\n' > bar.csv
try data bar.csv --delimiter '|' --label kind
# all problems at once
printf 'a,b,label\n1,2,x\n3,four,y\n5,6\nfive,1e400,x\n7,8,x\n9,10,y\n' > bad.csv
try data bad.csv
try data bad.csv --skip-bad
try data bad.csv --categorical a,b --skip-bad --limit 1
# names that occur twice, classes that differ in case
printf 'w,w,flag\n1.5,2,TRUE\n2.5,3,True\n3.5,5,FALSE\n' > twice.csv
try data twice.csv
try data people.csv --delimiter :: --header maybe
try data people.csv --ignore nothing
try data synthetic:blobs,n=30 --ignore 1
# ids: counters from any number, and different numbers under the name of an id
awk 'BEGIN { print "day,visit_id,size,kind"; for (i = 0; i < 30; i++) print 1000 + i "," i * i * 7 + 3 "," i % 4 + 0.25 "," (i % 2 ? "oak" : "elm") }' > ids.csv
try data ids.csv
try data ids.csv --numeric day,visit_id --json > ids.json
grep -c '"use": "input"' ids.json
try data ids.csv --numeric day --categorical day
# a table without a label is described; training needs one
cut -d, -f2,3 ids.csv | sed 's/visit_id/area/' > none.csv
try data none.csv
try train --data none.csv --quiet -o none.safetensors
printf 'w h kind\n1 2 oak\n3 4 elm\n' > space.csv
try data space.csv
# names of columns that are numbers: --label is a position, which is printed
printf '0,1,2,species\n1.5,0,2,oak\n2.5,1,3,elm\n3.5,0,3,oak\n4.5,1,2,elm\n' > numbers.csv
try data numbers.csv --label 2
