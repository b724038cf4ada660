# Names in files cannot send control characters to the terminal: tables, messages and JSON are free of them.
esc=$(printf '\033') bell=$(printf '\007') csi=$(printf '\302\233')
{
    echo "wi${esc}[31mdth,size${csi}2J,la${esc}[2Jbel"
    for i in 1 2 3 4 5 6 7 8 9; do echo "$i.5,$((i * i)),red${esc}]0;title$bell"; echo "-$i,$i,gre${csi}31men"; done
} > hostile.csv
enhope data hostile.csv
enhope train --data hostile.csv --n-factors 4 --n-hidden 3 --n-epochs 2 --validation-fraction 0 --quiet -o m.safetensors
enhope info m.safetensors | sed -n '/^label/,/^settings/p'
enhope info m.safetensors --json | sed -n '/"class"/p'
enhope eval m.safetensors --data hostile.csv 2>&1 | sed -n '/^class/,$s/[0-9][-0-9.]*/#/gp' | sed 's/  *- */ - /g; s/  */ /g'
enhope eval m.safetensors --data hostile.csv --label "no${esc}[1m"
printf '%s\n' "a,b" "1,x${esc}[5m" "2,y" > one.csv
enhope predict m.safetensors --data one.csv
printf '%s\n' "1 1:2${esc}[5m" > bad.svm
enhope data bad.svm
enhope "da${esc}[1mta"
# A file keeps the bytes of a label.
enhope predict m.safetensors --data hostile.csv -o labels.csv
grep -c "red${esc}]0;title$bell\|gre${csi}31men" labels.csv
# A terminal does not receive them.
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' enhope predict m.safetensors --data hostile.csv | tr -d '\r' | grep 'red' | head -1 |
    cut -d, -f2
# It receives the quotes of a field that needs them.
{
    echo 'size,color'
    for i in 1 2 3 4 5 6 7 8 9; do echo "$i.5,\"re,\"\"d\"\"\""; echo "-$i,blue"; done
} > quotes.csv
enhope train --data quotes.csv --n-factors 4 --n-hidden 3 --n-epochs 2 --validation-fraction 0 --quiet -o quotes
enhope predict quotes --data quotes.csv > file.csv
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' enhope predict quotes --data quotes.csv 2> /dev/null | tr -d '\r' |
    grep '"re' | head -1
grep '"re' file.csv | head -1
# The method of a model is text as well.
LC_ALL=C sed 's/"method": *"en-hope"/"method":"\\u001bc"/' m.safetensors > method.safetensors
cmp m.safetensors method.safetensors > /dev/null || enhope info method.safetensors | head -1
