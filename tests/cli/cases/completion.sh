# The completions offer commands, options and choices, and are valid scripts of their shells.
for shell in bash zsh fish; do
    enhope completion $shell > script.$shell
    ! command -v $shell > /dev/null || $shell -n script.$shell || echo "the script for $shell is invalid"
    for command in $(sed -n 's/^\.SS enhope //p' "$CASES/../../../man/enhope.1"); do
        grep -q -w "$command" script.$shell || echo "$shell does not complete $command"
    done
done
enhope completion ksh
echo "exit $?"
cat > try << 'TRY'
. ./script.bash
complete_words()
{
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _enhope
    echo "$*: ${COMPREPLY[*]}"
}
complete_words enhope comp
complete_words enhope train --rec
complete_words enhope train --recipe ''
complete_words enhope train --recipe = sm
complete_words enhope predict --n-n
complete_words enhope eval model
complete_words enhope help e
complete_words enhope completion ''
TRY
bash try
