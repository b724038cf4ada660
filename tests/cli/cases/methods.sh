# The table of methods is aligned; both tables are JSON.
enhope methods | awk 'NR == 1 { at = index($0, "solver"); print $1, $2, $NF } NR > 1 && substr($0, at \
    - 2, 2) != "  " { print "misaligned: " $0 }'
enhope methods | cut -d' ' -f1
enhope methods --json | python3 -m json.tool > /dev/null && echo "methods are JSON"
enhope methods --settings --json > settings.json
python3 - <<'END'
import json
rows = json.load(open("settings.json"))
print(sorted({key for row in rows for key in row}))
print([row["name"] for row in rows if row["name"] in ("method", "n_factors", "n_exemplars", "random_state")])
END
