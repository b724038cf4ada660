# Wrong options of serve are reported before anything is loaded or served.
try() {
    enhope serve "$@" > out 2> err
    echo "exit $?: $(cat out err)"
}
try
try m --port 70000
try m --port x
try m --host localhost
try m --timeout 0s
try m --timeout 5
try m --max-body 10
try m --max-body lots
try m --name a/b
try m --connections 0
try m --threads -1
enhope help serve | head -n 1
