# The version is printed to standard output.
enhope --version
