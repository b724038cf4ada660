# Progress on a terminal: one line that is redrawn, fits the width, and is cleared at the end.
data="--data synthetic:blobs,n=240,classes=3,inputs=5,seed=4"
cat > on_terminal.py <<'END'
import fcntl, os, pty, struct, subprocess, termios
def on_terminal(columns, command):
    """Runs a command whose standard error is a terminal. Returns its exit code and the drawn lines."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command.split(), stderr=side, stdout=subprocess.DEVNULL, env=dict(os.environ, TERM="xterm"))
    os.close(side)
    text = b""
    try:
        while chunk := os.read(terminal, 65536):
            text += chunk
    except OSError: # the end of a terminal
        pass
    return process.wait(), text.decode().replace("\r\n", "\n").replace("\x1b[K", "").split("\r")
END
python3 - $data <<'END'
import re, sys
from on_terminal import on_terminal
data = " ".join(sys.argv[1:])
train = f"enhope train {data} --n-factors 5 --n-hidden 4 --n-epochs 3 --batch-size 50 --validation-fraction 0.2 -o m.safetensors"
def show(what, good, seen):
    print(what, "as expected" if good else seen)

code, lines = on_terminal(110, train)
bar = re.compile(r"epoch 3/3 \[={40}\] loss [\d.]+, validation error [\d.]+ %, \d:\d\d left$")
drawn = [line for line in lines if line.startswith("epoch")]
show("a bar:", code == 0 and bar.match(drawn[-1]) and re.match(r"epoch 1/3 \[=*> *\] loss", drawn[0]), lines)
show("cleared:", lines[lines.index(drawn[-1]) + 1].split("\n")[0] == "" or lines[lines.index(drawn[-1]) + 1], lines)
code, lines = on_terminal(41, train)
drawn = [line for line in lines if line.startswith("epoch")]
show("a narrow terminal:", re.match(r"epoch 3/3 100 % error [\d.]+ %, \d:\d\d left$", drawn[-1]) and max(map(len, drawn)) <= 40, lines)
code, lines = on_terminal(0, train) # of unknown width: 80 columns
drawn = [line for line in lines if line.startswith("epoch")]
show("an unknown width:", "[=" in drawn[-1] and max(map(len, drawn)) <= 79, lines)

cv = f"enhope cv {data} --n-factors 5 --n-hidden 4 --n-epochs 2 --folds 3 --jobs 1"
code, lines = on_terminal(90, cv)
counts = [line for line in lines if re.match(r"[012] of 3 models", line)]
show("cv:", code == 0 and counts[0] == "0 of 3 models" and re.match(r"2 of 3 models; \d:\d\d left$", counts[-1]), lines)
tune = f"enhope tune {data} --n-factors 5 --n-hidden 4 --n-epochs 2 --trials 2 --jobs 1 --for 9m -o tuned"
code, lines = on_terminal(90, tune)
runs = [line for line in lines if re.match(r"trial \d \d:\d\d; \d+ runs", line)]
show("tune:", code == 0 and re.match(r"trial 1 \d:\d\d; \d+ runs, best [\d.]+ %; [89]:\d\d left$", runs[-1]), lines)
code, lines = on_terminal(90, "enhope importance m.safetensors " + data)
columns = [line for line in lines if line.startswith("columns")]
show("importance:", code == 0 and re.match(r"columns \[=*>? *\] \d+ %, \d rows, .* left$", columns[-1]), lines)
END
