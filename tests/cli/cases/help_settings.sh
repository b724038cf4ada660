# Every setting of the library is an option of train, and its help tells so.
enhope help train > told
enhope methods --settings | tail -n +2 | while read -r name rest; do
    case $name in ?) option="-$name" ;; *) option="--$(echo "$name" | tr _ -)" ;; esac
    grep -q -e "^  \(-., \)\?$option " told || echo "$option is not in the help"
done
[ "$(enhope methods --settings | wc -l)" -gt 20 ] && echo "looked for each"
enhope help train | awk 'length > 100' # lines that are too wide
