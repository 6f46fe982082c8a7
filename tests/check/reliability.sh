#!/bin/sh
# The table of docs/reliability.md has the counts of docs/counts.
set -eu
sh scripts/reliability.sh --check
