# enhope examples writes the files that the README uses, and replaces none.
enhope examples here
head -n 2 here/iris.csv here/test.csv here/new.csv
wc -l < here/iris.csv
cut -d, -f5 here/iris.csv here/test.csv | sort | uniq -c | sed 's/^ *//'
cp here/new.csv before
rm here/iris.csv
echo changed > here/test.csv
enhope examples here
echo "exit $?"
ls here
cat here/test.csv
cmp here/new.csv before
enhope examples here/test.csv/below
echo "exit $?"
