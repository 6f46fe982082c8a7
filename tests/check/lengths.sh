# The files of src/ keep to the lengths of scripts/check_lengths.sh.
exec sh scripts/check_lengths.sh
