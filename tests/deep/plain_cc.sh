# The library builds with plain commands of every compiler.
exec sh scripts/if_stale.sh plain_cc sh tests/check/plain_cc.sh all
