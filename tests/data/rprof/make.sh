#!/bin/sh
# Makes the files of this folder anew with the R that is installed (scripts/deps data installs one).
#
# They are samples of running programs: a new run gives other numbers, so tests that quote numbers change with them.
set -eu
cd "$(dirname "$0")"
LC_ALL=C.UTF-8
export LC_ALL

for kind in ${*:-plain line memory gc all append toplevel stackless names empty demo rprofmem}; do
    case $kind in
    rprofmem) out=rprofmem.out ;;
    *) out=$kind.Rprof ;;
    esac
    rm -f "$out"
    Rscript --vanilla make.R "$kind" "$out"
    if [ "$kind" = plain ]; then
        # What R writes on Windows, where the file is opened in text mode.
        sed 's/$/\r/' plain.Rprof >crlf.Rprof
    fi
done
wc -c ./*.Rprof ./*.out
