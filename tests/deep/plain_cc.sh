# With every compiler.
exec sh tests/check/plain_cc.sh all
