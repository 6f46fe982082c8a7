# The generated files match the tables in the source.
sh scripts/architecture.sh --check
sh scripts/generate.sh --check
exec sh scripts/families.sh --check
