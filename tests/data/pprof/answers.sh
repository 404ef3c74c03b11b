#!/bin/sh
# Record what Go's pprof answers for the profiles of this folder, so that the tests compare with it where Go is missing.
#
#     answers/NAME.tsv  of each profile, sample type and function: TYPE TAB SELF TAB TOTAL TAB NAME, by `pprof -top`
#     answers/cpu.pb.gz.traces  NANOSECONDS TAB STACK (innermost first), sums of `pprof -traces`
#     answers/cpu.pb.gz.roots, heap.pb.gz.leaves  the same with -tagroot and -tagleaf
#     answers/cpu.pb.gz.dot  the graph of `pprof -dot`: NODES TAB node TAB NAME TAB SELF TAB TOTAL, NODES TAB call TAB CALLER TAB
#                       CALLEE TAB TOTAL TAB residual or direct, NODES the -nodecount
#     answers/NAME.pb   of each text profile (debug=1): `pprof -proto`
#     answers/VERSION   which Go
set -eu
cd "$(dirname "$0")"
rm -rf answers
mkdir answers
go version >answers/VERSION
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export PPROF_TMPDIR="$home" HOME="$home"
for profile in *.pb.gz; do
    types=$(go tool pprof -symbolize=none -raw "$profile" 2>/dev/null | awk 'found { print; exit } /^Samples:/ { found = 1 }')
    for type in $types; do
        type=${type%%\[*} # [dflt]
        go tool pprof -symbolize=none -top -nodecount=100000 -nodefraction=0 -edgefraction=0 -sample_index="${type%/*}" \
            -unit="${type#*/}" "$profile" 2>/dev/null |
            awk -v type="${type%/*}" '
                /flat%/ { found = 1; next }
                found {
                    self = $1; total = $4
                    sub(/[a-zA-Z]+$/, "", self); sub(/[a-zA-Z]+$/, "", total)
                    sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "")
                    sub(/ \((partial-)?inline\)$/, "")
                    print type "\t" self "\t" total "\t" $0
                }'
    done >"answers/$profile.tsv"
done
# Sums by stack of the traces on standard input.
sums() {
    awk '
        function add() { if (stack != "") sum[stack] += value; stack = "" }
        /^-+\+-+$/ { add(); found = 1; next }
        !found { next }
        /^ *[0-9.]+[a-zA-Z]+   / { value = $1; sub(/[a-zA-Z]+$/, "", value); sub(/^ *[^ ]+   /, ""); stack = $0; next }
        /^             / { sub(/^ +/, ""); stack = stack ";" $0 }
        END { add(); for (stack in sum) print sum[stack] "\t" stack }' |
        sed 's/ (\(partial-\)\{0,1\}inline)//g' | LC_ALL=C sort
}
go tool pprof -symbolize=none -traces -unit=nanoseconds cpu.pb.gz 2>/dev/null | sums >answers/cpu.pb.gz.traces
go tool pprof -symbolize=none -traces -unit=nanoseconds -tagroot=kind,request -tagleaf=none cpu.pb.gz 2>/dev/null |
    sums >answers/cpu.pb.gz.roots
go tool pprof -symbolize=none -traces -unit=B -sample_index=alloc_space -tagleaf=bytes heap.pb.gz 2>/dev/null |
    sums >answers/heap.pb.gz.leaves
for nodes in 80 20; do
    go tool pprof -symbolize=none -dot -taghide=. -unit=nanoseconds -nodecount=$nodes cpu.pb.gz 2>/dev/null |
        awk -v nodes=$nodes '
            match($0, /tooltip="[^"]*"/) {
                text = substr($0, RSTART + 9, RLENGTH - 10)
                value = text; sub(/.* \(/, "", value); sub(/(ns)?\)$/, "", value); sub(/ \([^(]*\)$/, "", text)
            }
            /^N[0-9]+ \[/ {
                label = $0; sub(/" id=.*/, "", label)
                self = label ~ /\\n0 of / ? 0 : label
                sub(/\\nof .*/, "", self); sub(/ns? \(.*/, "", self); sub(/.*\\n/, "", self)
                name[$1] = text
                print nodes "\tnode\t" text "\t" self "\t" value
            }
            /^N[0-9]+ -> / { print nodes "\tcall\t" name[$1] "\t" name[$3] "\t" value "\t" (/style="dotted"/ ? "residual" : "direct") }'
done >answers/cpu.pb.gz.dot
for profile in *.txt; do
    # pprof refuses one of them, as pcol does
    go tool pprof -symbolize=none -proto -output="answers/$profile.pb.gz" "$profile" >"$home/out" 2>&1 || continue
    gzip -d <"answers/$profile.pb.gz" >"answers/$profile.pb"
    rm "answers/$profile.pb.gz"
done
