# The page on settings has the table that the command prints.
page=$CASES/../../../docs/reference/settings.md
enhope methods --settings --markdown > table
sed '1,/^<!-- enhope methods --settings --markdown -->$/d;/^<!-- end -->$/,$d' "$page" | diff table - && echo "the table is up to date"
