# Options of version 0.1 give an error that names the new option.
data=synthetic:blobs,n=90,classes=3,inputs=4,seed=1
for option in rate epochs dims z neighbours seed smooth balance freedom graph mix beta1; do
    enhope train --data $data --$option 1
done
enhope update m.safetensors --data $data --adversary=0.1
enhope eval m.safetensors --data $data --against kmeans
enhope eval m.safetensors --data $data --centres 10
enhope eval m.safetensors --data $data --seed 1
enhope predict m.safetensors --data $data --neighbours 1
enhope data $data --rate 1
enhope train --data $data --learning-rat 1
