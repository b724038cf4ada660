# convert writes no file outside its folder: links in the folder are refused and stay.
blobs=synthetic:blobs,n=60,classes=3,inputs=5,seed=3
try() { enhope convert --data $blobs -o "$1" --quiet; echo "exit $?"; }
for name in 00000.x.npy 00000.y.npy shards.partial.json shards.json; do
    mkdir out
    case $name in *.npy) echo "of the user" > file ;; esac
    ln -s ../file out/$name
    try out
    cat file 2> /dev/null || echo "no file"
    [ -L out/$name ] && ls out
    rm -rf out file
done
# A file with a second name outside is replaced in the folder only.
mkdir out
echo "of the user" > file
ln file out/00000.x.npy
try out
cat file
enhope data out --check
# The folder itself may be a link.
mkdir real
ln -s real link
try link
ls real
# Pipes in place of files are refused at once.
mkdir pipe
mkfifo pipe/shards.json x.npz
enhope data pipe
enhope data x.npz
