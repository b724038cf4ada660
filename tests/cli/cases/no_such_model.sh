# A model that is not there: a sentence on standard error, nothing on standard output, nothing left behind.
enhope info absent.safetensors
status=$?
ls
exit $status
