# A model reads all rows of a table without a header whose numbers have percent signs or thousands.
awk 'BEGIN { for (i = 0; i < 40; i++) printf "%d.%d%%,\"%d,%03d\",%s\n", 10 + 40 * (i % 2), i % 7, 1 + 5 * (i % 2), 13 * i, i % 2 ? "high" : "low" }' > rows.csv
enhope train --data rows.csv --n-factors 5 --n-hidden 4 --n-epochs 5 --quiet -o m.safetensors
enhope eval m.safetensors --data rows.csv --json | grep '"n"' | head -n 1
cut -d, -f 1-3 rows.csv > new.csv
enhope predict m.safetensors --data new.csv -o labels.csv
wc -l < labels.csv
