# Many texts of rare words: noise would hide them, so candidates without noise are tried.
awk 'BEGIN { for (i = 0; i < 12; i++) printf "w%d,", i; print "label"; x = 1; for (n = 0; n < 2400; n++) {
    for (i = 0; i < 12; i++) { x = (x * 16807) % 2147483647; printf "%d,", x / 2147483647 < (i % 2 == n % 2 ? 0.08 : 0.05) }
    print n % 2 ? "a" : "b" } }' > words.csv
enhope train --data words.csv -o m.safetensors 2>&1 | grep -cE "without noise|stopped early"
