#!/bin/sh
# Profiles of work.c by Valgrind's DHAT (Debian: packages valgrind, gcc), and what reader.py counts in them.
set -e
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp work.c "$folder"
(cd "$folder" && gcc -g -O0 -o work work.c &&
    valgrind -q --tool=dhat --dhat-out-file=small.dhat ./work &&
    valgrind -q --tool=dhat --mode=copy --dhat-out-file=copy.dhat ./work)
cp "$folder/small.dhat" "$folder/copy.dhat" .
mkdir -p answers
for name in small copy; do
    python3 reader.py $name.dhat >answers/$name.tsv
done
