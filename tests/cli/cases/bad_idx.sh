# IDX files with a wrong magic number, a truncated gzip stream, and dimensions beyond the file or 64 bits.
try() { enhope data "$@"; echo "exit $?"; }
python3 - <<'END'
import gzip, struct
def idx(kind, shape, values):
    return struct.pack(">HBB", 0, kind, len(shape)) + b"".join(struct.pack(">I", s) for s in shape) + bytes(values)
good = idx(8, (4, 3, 2), range(24))
open("magic-idx3-ubyte", "wb").write(b"\x07" + good[1:])
open("kind-idx3-ubyte", "wb").write(idx(7, (4, 3, 2), range(24)))
open("short-idx3-ubyte", "wb").write(good[:-5])
open("long-idx3-ubyte", "wb").write(good + b"xyz")
open("head-idx3-ubyte", "wb").write(good[:9])
packed = gzip.compress(idx(8, (40, 8, 8), [(i * i) % 251 for i in range(2560)]), mtime=0)
open("cut-idx3-ubyte.gz", "wb").write(packed[:-200])
open("huge-idx3-ubyte", "wb").write(idx(8, (4000000000, 4000000000, 4000000000), b"abc"))
open("big-idx3-ubyte", "wb").write(idx(8, (60000, 28, 28), b"abc"))
open("x-idx3-ubyte", "wb").write(good)
open("y-idx1-ubyte", "wb").write(idx(8, (3,), [0, 1, 2]))
END
try magic-idx3-ubyte --label none
try kind-idx3-ubyte --label none
try short-idx3-ubyte --label none
try long-idx3-ubyte --label none
try head-idx3-ubyte --label none
try cut-idx3-ubyte.gz --label none
try huge-idx3-ubyte --label none
try big-idx3-ubyte --label none
try x-idx3-ubyte,y-idx1-ubyte
