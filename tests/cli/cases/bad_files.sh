# Invalid files: the message has the file, the line, the value that was found and the expected one.
try() { enhope "$@"; echo "exit $?"; }
train() { try train --quiet -o never.safetensors --data "$@"; }
train absent.csv
: > empty.csv
train empty.csv
printf 'a,b,label\n1,2,x\n3,4\n5,6,y\n' > ragged.csv
train ragged.csv
printf 'a,b,label\n1,2,x\n3,four,y\n' > word.csv
train word.csv
printf 'a,b,label\n1,2,x\n3,four,y\n5,6\nfive,inf,x\n7,8,x\n9,10,y\n' > many.csv
train many.csv
printf 'a,b,label\n1,inf,x\n3,4,y\n' > inf.csv
train inf.csv
printf 'a,b,label\n1,2,x\n3,4,y\n' > good.csv
train good.csv --label species
train good.csv --label 7
train good.csv --split 9@1
train good.csv --split nine
train good.csv --part both
printf '1,2\n3,4\n5,6\n' > x.csv
printf '1\n2\n' > y.csv
train x.csv,y.csv
printf 'P5 2 2 255 abcd' > magic-idx3-ubyte
train magic-idx3-ubyte
train synthetic:spirals
ls
