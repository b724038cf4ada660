# Help is on standard output when asked for, on standard error when nothing was.
enhope help > overview && enhope --help | cmp - overview && enhope -h | cmp - overview
cat overview
enhope 2> nothing
echo "exit $?"
cmp overview nothing
for command in train tune embed predict eval plot info data methods recipes help; do
    enhope help $command > told || echo "help $command failed"
    enhope $command --help | cmp - told
    head -n 1 told
done
enhope train --version
