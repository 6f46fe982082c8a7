# The codecs give the same bits with every compiler and optimisation level.
exec sh scripts/if_stale.sh quant_bits sh tests/check/quant_bits.sh all
