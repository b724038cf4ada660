# Help is printed to standard output on request, and to standard error without a command.
enhope help > overview && enhope --help | cmp - overview && enhope -h | cmp - overview
cat overview
enhope 2> nothing
echo "exit $?"
cmp overview nothing
for command in train tune embed predict eval plot info data methods recipes help; do
    enhope help $command > text || echo "help $command failed"
    enhope $command --help | cmp - text
    head -n 1 text
done
enhope train --version
