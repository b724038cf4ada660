# Every setting of the library is an option in the help of train.
enhope help train > text
enhope methods --settings | tail -n +2 | while read -r name rest; do
    case $name in ?) option="-$name" ;; *) option="--$(echo "$name" | tr _ -)" ;; esac
    grep -q -e "^  \(-., \)\?$option " text || echo "$option is not in the help"
done
[ "$(enhope methods --settings | wc -l)" -gt 20 ] && echo "checked each setting"
enhope help train | awk 'length > 100' # lines that are too wide
