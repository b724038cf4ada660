# The page on methods has the table that the command prints, and a paragraph for each method.
page=$CASES/../../../docs/reference/methods.md
enhope methods --markdown > table
sed '1,/^<!-- enhope methods --markdown -->$/d;/^<!-- end -->$/,$d' "$page" | diff table - && echo "the table is up to date"
enhope methods | tail -n +2 | while read -r name rest; do
    grep -q "^\*\*\(.*, \)\{0,1\}$name\(, .*\)\{0,1\}\*\*" "$page" || echo "$name has no paragraph"
done
