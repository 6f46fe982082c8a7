/*
 * quant/lanes: kernel templates shared by all instruction sets.
 *
 * The templates in this directory use types and functions that each instruction set defines: x86/
 * for AVX2 and AVX-512, arm/ for NEON. A kernel file defines KERNEL (the attributes of its
 * functions), includes the definitions and then the templates; everything is static. No file
 * includes this one; it only documents the types and functions.
 *
 * Lanes (x86/lanes_avx2.h, x86/lanes_avx512.h, arm/lanes_neon.h), for searches with one group of
 * values per lane:
 *
 *     lanes, LANES       a vector of LANES binary32 values; each value is in a lane
 *     lane_mask          one boolean per lane
 *     f_load f_store f_set f_add f_sub f_mul f_div f_sqrt f_abs f_negate    as named
 *     f_roughly_1_over   reciprocal of a normal number, with a relative error below 2^-11
 *     f_min f_max        a < b ? a : b and a > b ? a : b, for all operands including NaN
 *     f_less f_equal f_differ    comparisons; with NaN, f_differ is true and the others are false
 *     m_and m_or m_not m_any m_bits    operations on lane_mask; m_bits returns one bit per lane
 *     f_choose(m, yes, no)
 *     f_quant(v, low, high)    wb__clamp(wb__round_even(v), low, high) as a float, for any v
 *     f_store_bytes f_load_bytes f_store_16    8-bit or 16-bit integers, one per lane
 *     f_transpose(from, at, out)   out[i] contains value at + i of each of LANES arrays
 *     f_table(eight)     table of eight values; i_pick(codes, shift, table) selects by three bits
 *     i_load_16          loads unsigned 16-bit integers as int_lanes
 *     f_lowest           minimum of all lanes
 *
 * Bytes (x86/byte_vectors.h, arm/bytes_neon.h): bytes_16 with prefix h_, bytes_32 with prefix b_:
 *
 *     load store set join low high and or sub add min equal    as named; min is unsigned, equal
 *                              gives 0 or 255 per byte
 *     h_words(a, b, c, d)      four 32-bit words, a first
 *     h_firsts h_seconds       the first or second eight bytes of each of two vectors
 *     h_zip_low h_zip_high     the first or second eight bytes of two vectors, interleaved
 *     b_without(a, b)          a & ~b
 *     b_at_least(a, b)         unsigned comparison, 0 or 255
 *     h_left b_left            left shift; bits shifted out of a byte may enter the next byte
 *     b_field(v, shift, mask)  (v >> shift) & mask in every byte
 *     b_nibbles(p)             the lower halves of 16 bytes, then the upper halves
 *     b_look_up(table, v)      lookup in a table of sixteen bytes; v must be below 16
 *     b_tops                   a 32-bit mask of the highest bit of each byte
 *     b_sums(v, &low, &high)   signed sums of the first and of the second 16 bytes
 *     b_spread(word)           byte i is 255 if bit i of the word is set, otherwise 0
 *
 * Eights (x86/eights.h, arm/eights_neon.h), for encoders of single blocks:
 *
 *     eight              eight consecutive binary32 values; e_ functions as f_ above. If e_min or
 *                        e_max returns a zero, its sign is unspecified. e_max returns the second
 *                        operand if the first is NaN
 *     e_greatest         maximum of all values
 *     e_where_equal(a, b)      one bit per pair of values, set if they are equal
 *     e_with_sign(m, v)  the magnitude m with the sign of v
 *     e_truncate         wb__truncate; returns eight_integers
 *     e_round_even(v, top)     wb__round_even, at most top
 *     e_f4_of(x, bounds)       number of the seven bounds that |x| exceeds; plus 8 if this number
 *                              is not 0 and x < 0
 *     b_of_integers(four)      the lowest bytes of the integers in four eight_integers
 *     e_store_f16, e_bf16_of   rounding to binary16 and bfloat16
 *
 * Stores (x86/decode_*.c, x86/scales.h, arm/put_neon.h); d, e and m are floats:
 *
 *     load_f16(p)
 *     put_16 put_32(out, q, d)            signed bytes times d
 *     put_16_plus put_32_plus(out, q, d, m)   signed bytes times d, plus m
 *     put_8_and_8(out, q, d, e)           eight bytes times d, eight bytes times e
 *     put_twos(out, p, d)                 32 two-bit fields, minus 1, times d
 *     put_8_f16 put_8_bf16(out, p)
 *     scales_nvfp4(p, out)                wb__half_of_e4m3 of four bytes
 *     scales_iq4_xs(low, high, d, out)    eight scales of 4 + 2 bits, minus 32, times d
 */
