# The generated files are those that the tables in the source give.
exec sh scripts/generate.sh --check
