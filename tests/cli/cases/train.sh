# Training: at most some twenty lines on standard error, a summary on standard output, a model that works.
tiny="--n-factors 8 --n-hidden 6 --n-epochs 3 --batch-size 40 --validation-fraction 0.2"
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny -o m.safetensors > out 2> err
echo "exit $?"
numbers='s/[0-9][0-9.e-]* s\b/# s/; s/loss [0-9.e-]*/loss #/; s/error [0-9.]* %/error # %/; s/(.*B)/(# kB)/'
numbers="$numbers; s/at epoch [0-9]/at epoch #/; /^Errors/s/[0-9][0-9.]* %/# %/g; /^Errors/s/[0-9.]* to/# to/g"
sed "$numbers" out
sed "$numbers" err
ls
enhope eval m.safetensors --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 > /dev/null && echo "it evaluates"
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny --quiet
echo "exit $?"
ls
# many epochs have some twenty lines, and the last one
enhope train --data synthetic:blobs,n=150,classes=3,inputs=5,seed=3 $tiny --n-epochs 210 -o m.safetensors 2>&1 > out | grep '^epoch' > lines
wc -l < lines
tail -n 1 lines | cut -d: -f1
