#!/bin/sh
# Make the perf script texts of this folder with the perf that is installed: the first samples of a small program,
# in several choices of fields. The addresses differ from run to run; the tests do not name them.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
record() { # NAME OPTION...
    name=$1
    shift
    perf record -q -o "$work/$name" "$@" -- /usr/bin/python3 -c 'x = [str(i * i) for i in range(1000000)]' >/dev/null 2>&1
}
script() { # NAME INPUT SAMPLES OPTION...
    out=$1.txt input=$work/$2 rows=$3
    shift 3
    perf script -i "$input" "$@" 2>/dev/null | awk -v rows="$rows" '
        /^[^\t#]/ && !/^ *$/ && !/^  [^ ]/ { n++ } n > rows { exit } { print }' >"$out"
}
record calls -F 999 -e cpu-clock -g
record flat -F 999 -e cpu-clock
record two -c 1000000 -e cpu-clock,page-faults -g --sample-cpu
script calls calls 30
script flat flat 30
script events two 40
script fields two 10 -F comm,pid,tid,cpu,time,period,event,ip,sym,dso --ns
script source calls 10 -F +srcline
script misc two 10 -F +misc,-event
script untimed flat 10 -F -time
script mmap calls 10 --show-mmap-events
script bare calls 10 -F comm,ip,sym,dso
