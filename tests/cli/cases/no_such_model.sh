# A missing model: a message on standard error, no standard output, no files.
enhope info absent.safetensors
status=$?
ls
exit $status
