# A model of version 0.1 loads, embeds as before and can be updated. Its settings have their new names.
model=$CASES/../../data/model-0.1.safetensors
enhope embed "$model" --data synthetic:blobs,n=7,classes=3,inputs=4,seed=1 | cmp - "$CASES/../../data/model-0.1.embed.csv" &&
    echo "the embedding is the same"
enhope info "$model" | grep -E '^ *(n_factors|n_hidden|n_epochs|random_state|adversarial_step|dof|learning_rate|scaling) '
enhope update "$model" --data synthetic:blobs,n=90,classes=3,inputs=4,seed=1 --n-epochs 2 --quiet -o new.safetensors
enhope info new.safetensors | grep -E '^ *(n_factors|n_hidden|n_epochs|random_state|adversarial_step|dof|learning_rate|scaling) '
grep -c '"dof":"3"' new.safetensors
grep -c freedom new.safetensors
