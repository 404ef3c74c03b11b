#!/bin/sh
# Makes the profiles of this folder anew with the Go that is installed (scripts/deps data installs one).
#
# The program is built without paths of this machine (-trimpath) and run from a folder whose name says nothing, since
# both stand in the profiles. They are samples of a running program: a new run gives other numbers, so tests that quote
# numbers change with them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=/tmp/pcol-demo # stands in the profiles: not from mktemp
mkdir "$home"
trap 'rm -rf "$home"' EXIT
cp "$here/demo.go" "$home/"
cd "$home"
GO111MODULE=off GOCACHE="$home/cache" GOFLAGS=-trimpath CGO_ENABLED=0 go build -o demo demo.go
mkdir out
./demo out
rm -f "$here"/*.pb.gz "$here"/*.txt
cp out/* "$here/"
cd "$here"
wc -c ./*.pb.gz ./*.txt
