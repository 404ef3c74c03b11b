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
# All samples of a recording, and in NAME.report the answer of `perf report` to it: for each event and symbol the sum of
# periods, EVENT TAB PERIOD TAB SYMBOL.
reported() { # NAME OPTION... (of perf script)
    name=$1
    shift
    perf script -i "$work/$name" "$@" >"$name.txt" 2>/dev/null
    {
        perf version | sed 's/^/# /'
        perf report -i "$work/$name" --stdio --no-children -g none -s sym -F period,sym -t '|' 2>/dev/null |
            sed -n "s/^# Samples: .* of event '\(.*\)'/event \1/p; s/^ *\([0-9][0-9]*\) *|\[[.k]\] *\(.*[^ ]\) *$/\1\t\2/p" |
            awk -F '\t' '/^event / { event = substr($0, 7); next } { print event "\t" $1 "\t" $2 }'
    } >"$name.report"
}
# Three events whose periods differ.
record three -F 97 -e page-faults,cpu-clock,context-switches -g
reported three
# Data addresses with their symbols, and weights, before the frames: without and with call chains.
record weights -c 199 -e page-faults -d -W
reported weights -F +addr,+weight
record addresses -c 499 -e page-faults -d -g
reported addresses -F +addr,+data_src
script calls calls 30
script flat flat 30
script events two 40
script fields two 10 -F comm,pid,tid,cpu,time,period,event,ip,sym,dso --ns
script source calls 10 -F +srcline
script misc two 10 -F +misc,-event
script untimed flat 10 -F -time
script mmap calls 10 --show-mmap-events
script bare calls 10 -F comm,ip,sym,dso
