#!/bin/sh
# Records how protoc decodes the messages, by the .proto files of a clone of opentelemetry-proto:
#     answers.sh CLONE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
protos=$(mktemp -d)
trap 'rm -rf "$protos"' EXIT
for pair in small:v1.11 old:v1.9; do
    name=${pair%:*} version=${pair#*:}
    mkdir "$protos/$version"
    git -C "$1" archive "$version.0" opentelemetry | tar -x -C "$protos/$version"
    protoc -I"$protos/$version" --decode opentelemetry.proto.profiles.v1development.ProfilesData \
        "$protos/$version/opentelemetry/proto/profiles/v1development/profiles.proto" \
        <"$here/$name.otlp" >"$here/protoc-${version#v}.txt"
done
