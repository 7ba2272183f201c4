#!/bin/sh
# Installs the product on another machine: sh install.sh USER@MACHINE EXECUTABLE ANSWERS
set -eu
[ $# -eq 3 ] || { echo "usage: sh install.sh USER@MACHINE EXECUTABLE ANSWERS" >&2; exit 2; }
machine=$1 executable=$2 answers=$3

# A folder of root alone, so that nobody exchanges the executable before it runs.
folder=$(ssh "$machine" 'umask 077 && mktemp -d')
trap 'ssh "$machine" "rm -rf $folder"' EXIT
scp -q "$executable" "$machine:$folder/platform"
ssh "$machine" 'umask 022 && mkdir -p /etc/platform && cat >/etc/platform/answers.yaml && chmod 644 /etc/platform/answers.yaml' <"$answers"
ssh "$machine" "chmod 700 $folder/platform && $folder/platform install --plan && $folder/platform install && $folder/platform install --check"
