# Folders of images: classes and parts by folders, unlabeled images, and files that do not fit.
python3 - <<'END'
import os, struct, zlib

def write(path, width, height, pixel):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(pixel(x, y) for x in range(width)) for y in range(height))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

for k, name in enumerate(("cat", "dog", "eel")):
    for i in range(40):
        part = "train" if i < 30 else "test"
        write(f"photos/{part}/{name}/{i:02}.png", 5, 4, lambda x, y: 40 * k + (x * 31 + y * 17 + i * 13) % 40 + (90 if x % 3 == k else 0))
write("odd/cat/1.png", 5, 4, lambda x, y: 9)
write("odd/dog/1.png", 4, 5, lambda x, y: 9)
write("new/1.png", 5, 4, lambda x, y: 40 + (130 if x % 3 == 1 else 0))
END
enhope data photos
enhope train --data photos --n-factors 20 --n-hidden 10 --n-epochs 40 --shift 0 --quiet -o m.safetensors || exit
enhope eval m.safetensors --data photos | sed -n 1p
enhope eval m.safetensors --data photos/train/cat 2>&1
enhope predict m.safetensors --data new
enhope predict m.safetensors --data photos/test | head -n 3
enhope view m.safetensors --data photos -o page.html 2> /dev/null > /dev/null; grep -c '<html' page.html
enhope convert --data photos --quiet -o shards && enhope data shards | sed -n 2,3p
touch photos/train/readme.txt
enhope data photos 2>&1 | head -n 2
enhope data odd 2>&1
printf 'x' > new/2.jpg
enhope predict m.safetensors --data new 2>&1
exit 0
