# An invalid command line gives one message, with the nearest name if there is one, and exit code 2.
try() { enhope "$@"; echo "exit $?"; }
try train --factor 8
try train --data x.csv --method dt-mcml --hidden-layer-sizes 500-x
try train --data x.csv --epoch=3
try train --zzzzzz
try train -x
try eval m.safetensors --n-factors 8
try eval m.safetensors --against kmeans
try eval m.safetensors --centres=4
try train --against kmeans
try train --proba
try train --data
try train --quiet=yes
try train --data x.csv --threads many
try train --data x.csv --threads 2.5
try train --data x.csv --n-epochs many
try train --data x.csv --solver newton
try train --data x.csv --order 0
try train --data x.csv --order 2+3
try train --data x.csv -z -1
try train --data x.csv --noise -0.1
try train --data x.csv --noise loud
try train --data x.csv --dropout 0.96
try train --data x.csv --adversarial-step -0.1
try train --data x.csv --adversarial-step mean
try train --data x.csv --class-weight heavy
try train --data x.csv --dof 17
try train --data x.csv --shift -1
try train --data x.csv --affine 5.5
try train --data x.csv --elastic soft
try train --data x.csv --device abacus
try train --data x.csv --device cuda:
try train --data x.csv --device cuda:one
try train --data x.csv --precision fp16
try train --data x.csv --compute cuda
try train
try train extra
try train --data x.csv -o -
try eval
try eval m.safetensors --n-neighbors 0
try eval one two
try info
try info m.safetensors --devices
try info --device cpu
try trian
try frobnicate
try help trian
