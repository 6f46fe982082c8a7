# The generated files match the tables in the source.
sh scripts/architecture.sh --check
exec sh scripts/generate.sh --check
