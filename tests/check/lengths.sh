# Files are short enough to be read.
exec sh scripts/check_lengths.sh
