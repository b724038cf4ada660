# The map and the length of its training follow from the table.
chosen() { enhope train --data "$1" -o m.safetensors 2>&1 > out | sed -n 's/^chose \(.*\) by.*/\1/p'; }
trained() { enhope info m.safetensors --json | grep -E '"(learning_rate|n_epochs)": "'; }
rings='{ r = i % 2 ? 3 : 1; r += 0.3 * ((i * 7) % 11) / 11; printf "%.4f,%.4f,", r * cos(i * 2.4), r * sin(i * 2.4) }'
# classes that do not overlap: 2,500 small steps
awk "BEGIN { print \"x,y,kind\"; for (i = 0; i < 240; i++) { $rings print i % 2 ? \"ring\" : \"disk\" } }" > rings.csv
chosen rings.csv | grep -c "map with little noise"
trained
# a quarter of the labels is wrong: 1,000 steps
awk "BEGIN { print \"x,y,kind\"; for (i = 0; i < 240; i++) { $rings print (i % 2) != (i % 7 < 2) ? \"ring\" : \"disk\" } }" > mixed.csv
chosen mixed.csv | grep -c "map"
trained
# rare words of many texts: noise would hide them
awk 'BEGIN { for (i = 0; i < 12; i++) printf "w%d,", i; print "label"; x = 1; for (n = 0; n < 2400; n++) {
    for (i = 0; i < 12; i++) { x = (x * 16807) % 2147483647; printf "%d,", x / 2147483647 < (i % 2 == n % 2 ? 0.08 : 0.05) }
    print n % 2 ? "a" : "b" } }' > words.csv
chosen words.csv | grep -cE "without noise|stopped early"
