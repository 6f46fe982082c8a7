# Every compiler at every optimisation.
exec sh tests/check/quant_bits.sh all
