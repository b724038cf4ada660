# One SIGTERM ends a command that waits for the text of a pipe, and no file is left.
mkfifo pipe

# Sends a signal to the command in the background when it catches signals, and waits for its end.
stop() {
    until grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$1/status; do sleep 0.05; done
    sleep 0.2
    kill -TERM $1
    for i in $(seq 200); do
        grep -q '^State:.[^Z]' /proc/$1/status 2> /dev/null || break
        sleep 0.1
    done
    kill -KILL $1 2> /dev/null
    wait $1
    echo "exit $?"
    echo *
}

# nothing writes to the pipe
enhope train --data pipe --label none -o m.safetensors &
stop $!
# the text does not end
exec 3<>pipe
printf 'a,b,label\n1.5,2,red\n1.25,' >&3
enhope train --data pipe -o m.safetensors &
stop $!
printf 'a,b,label\n1.5,2,red\n1.25,' >&3
enhope train --data - -o m.safetensors < pipe &
stop $!
printf 'a,b,label\n1.5,2,red\n1.25,' >&3
enhope convert --data pipe -o shards/train &
stop $!
