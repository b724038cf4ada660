# The manual page matches the tables of the command and the library, and has every option and setting.
page=$CASES/../../../man/enhope.1
enhope help --man | diff - "$page" && echo "the page is up to date"
for command in train embed predict eval plot serve info data methods help; do
    grep -q "^\.SS enhope $command\$" "$page" || echo "$command is missing"
    enhope help $command | sed -n 's/^  \(-., \)\{0,1\}--\([a-z0-9-]*\).*/\2/p'
done | sort -u | sed 's/-/\\-/g' | while read -r option; do
    grep -qF -e "\\-\\-$option" "$page" || echo "--$option is missing"
done
enhope methods --settings | tail -n +2 | while read -r name rest; do
    grep -qF -e "\\-$(echo "$name" | sed 's/_/\\-/g')" "$page" || echo "$name is missing"
done
# Each command has a page, and man accepts it.
enhope help | sed -n '/^[^ ]/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort -u | while read -r command; do
    enhope help "$command" --man > page.1 || continue
    grep -q "^enhope.-$command .- " page.1 || echo "the page of $command has no name"
    grep -q '^\.SH OPTIONS' page.1 || echo "the page of $command has no options"
    ! command -v mandoc > /dev/null || mandoc -T lint -W error page.1
done
enhope help nothing --man 2>&1
