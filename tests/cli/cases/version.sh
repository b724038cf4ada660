# The version is told on standard output.
enhope --version
