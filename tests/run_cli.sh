#!/bin/sh
# Runs one test of the command: run_cli.sh SCRIPT FOLDER
#
# The script runs in FOLDER, which is emptied first. $WB is the command, $DATA is tests/data. The script's standard
# output and standard error together must equal the file SCRIPT with .out for .sh; without that file, the script
# must succeed. UPDATE=1 writes the .out file instead.
set -u
script=$1
folder=$2
expected=${script%.sh}.out
rm -rf "$folder"
mkdir -p "$folder/bin"
ln -s "$WB" "$folder/bin/wb"
cd "$folder" || exit 1
PATH=$folder/bin:$PATH
LC_ALL=C.UTF-8
XDG_STATE_HOME=$folder.state # not the user's own
XDG_CONFIG_HOME=$folder.config
rm -rf "$XDG_STATE_HOME" "$XDG_CONFIG_HOME"
export PATH LC_ALL DATA WB XDG_STATE_HOME XDG_CONFIG_HOME
unset NO_COLOR
if [ -e "$expected" ] || [ "${UPDATE:-0}" = 1 ] && grep -q '^# golden' "$script"; then
    # The expected output contains no paths of this machine.
    sh "$script" 2>&1 </dev/null | sed "s|$DATA|DATA|g; s|$folder|HERE|g" >actual.out
    if [ "${UPDATE:-0}" = 1 ]; then
        cp actual.out "$expected"
        exit 0
    fi
    diff -u "$expected" actual.out
else
    sh -eu "$script" </dev/null
fi
