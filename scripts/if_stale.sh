#!/bin/sh
# Runs the command of an expensive test: if_stale.sh PART COMMAND...
#
# With WEIGHBRIDGE_STALE_ONLY=1 the command does not run if it passed before with the same inputs. With
# WEIGHBRIDGE_RECORD=1 a pass is recorded. See scripts/results.py and docs/dev/ci.md.
set -eu
cd "$(dirname "$0")/.."
part=$1
shift
[ "${WEIGHBRIDGE_STALE_ONLY:-}" != 1 ] || ! python3 scripts/results.py check "$part" || exit 0
"$@"
[ "${WEIGHBRIDGE_RECORD:-}" != 1 ] || python3 scripts/results.py record "$part"
