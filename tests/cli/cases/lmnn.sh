# LMNN: finds target neighbors; the model embeds and predicts new samples; small classes.
data=synthetic:blobs,n=300,classes=3,inputs=5,seed=3
enhope train --data $data --method lmnn --n-epochs 3 --batch-size 100 -o m.safetensors > out 2> err
echo "exit $?"
grep target err
enhope predict m.safetensors --data synthetic:blobs,n=40,classes=3,inputs=5,seed=4 -o p.csv
enhope embed m.safetensors --data synthetic:blobs,n=40,classes=3,inputs=5,seed=4 -o y.csv
wc -l < p.csv
head -1 y.csv
enhope train --data $data --method lmnn --batch-size 0 --solver lbfgs --line-searches 5 --n-epochs 1 --quiet -o all.safetensors
echo "exit $?"
printf 'a,b,label\n1,2,x\n3,4,x\n5,7,x\n2,2,y\n4,1,y\n9,9,z\n' > small.csv
enhope train --data small.csv --method lmnn --validation-fraction 0 --n-epochs 1 -o small.safetensors 2>&1 > out | grep target
enhope train --data small.csv --method lmnn --n-components 3 --quiet -o no.safetensors
echo "exit $?"
ls
