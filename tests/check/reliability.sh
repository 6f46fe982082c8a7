#!/bin/sh
# The table of docs/reliability.md says what the runs counted.
set -eu
sh scripts/reliability.sh --check
