/*
 * quant/lanes: kernels that are written once for all instruction sets.
 *
 * The templates of this folder are in words that each instruction set defines for itself: x86/ has
 * them for AVX2 and AVX-512, arm/ for NEON. A file of kernels defines KERNEL, the attributes of its
 * functions, includes the words and then the templates; everything is static. This file is included
 * nowhere: it says what the words mean.
 *
 * Lanes (x86/lanes_avx2.h, x86/lanes_avx512.h, arm/lanes_neon.h), for the searches, which put a
 * group of values into every lane:
 *
 *     lanes, LANES       that many values of binary32; lane_mask, one truth a lane
 *     f_load f_store f_set f_add f_sub f_mul f_div f_sqrt f_abs f_negate    as they are called
 *     f_roughly_1_over   the reciprocal of a normal number, wrong by less than 2^-11 of it
 *     f_min f_max        a < b ? a : b and a > b ? a : b, whatever they are
 *     f_less f_equal f_differ, m_and m_or m_not m_any m_bits    false for NaN, but for f_differ
 *     f_choose(m, yes, no)
 *     f_quant(v, low, high)    wb__clamp(wb__round_even(v), low, high) as a float, whatever v is
 *     f_store_bytes f_load_bytes f_store_16    integers of 8 or 16 bits, one a lane
 *     f_transpose(from, at, out)   out[i] has value at + i of each of LANES arrays
 *     f_table(eight)     eight values to pick from; i_pick(codes, shift, table) picks by three bits
 *     i_load_16          int_lanes, of 16 bits without sign each
 *     f_lowest           the least of the lanes
 *
 * Bytes (x86/bytes.h, arm/bytes_neon.h): bytes_16 with h_, bytes_32 with b_:
 *
 *     load store set join low high and or sub add min equal    min without sign, equal 0 or 255
 *     h_words(a, b, c, d)      four words, a first
 *     h_firsts h_seconds       the first or second eight bytes of two
 *     h_zip_low h_zip_high     the first or second eight of two, in turns
 *     b_without(a, b)          the bits of a that are not in b
 *     b_at_least(a, b)         without sign, 0 or 255
 *     h_left b_left            of bytes that have room: what leaves one may enter the next
 *     b_field(v, shift, mask)  bits `shift` and up of every byte, as far as `mask` goes
 *     b_nibbles(p)             the lower halves of 16 bytes, then the upper ones
 *     b_look_up(table, v)      of a table of sixteen, v below 16
 *     b_tops                   the highest bit of each
 *     b_sums(v, &low, &high)   of the first and of the second 16, with sign
 *     b_spread(word)           0 or 255 for each bit
 *
 * Neighbours (x86/eights.h, arm/eights_neon.h), for encoders of single blocks:
 *
 *     eight              eight values of binary32; e_ as f_ above. e_min and e_max leave open which
 *                        zero they give, and e_max gives the second operand if the first is NaN
 *     e_greatest         of all; e_where_equal(a, b) a bit for each that is
 *     e_with_sign(m, v)  the magnitude m with the sign of v
 *     e_truncate         wb__truncate; eight_integers
 *     e_round_even(v, top)     wb__round_even, at most top
 *     e_f4_of(x, bounds)       how many of seven bounds |x| exceeds; 8 more if that is any and x < 0
 *     b_of_integers(four)      the lowest bytes of 4 x eight
 *     e_store_f16, e_bf16_of   rounded to halves of a binary32
 *
 * Putting (in each decode_*.c): d and m are floats
 *
 *     load_f16(p)
 *     put_16 put_32(out, q, d)            signed bytes, times d
 *     put_16_plus put_32_plus(out, q, d, m)   then plus m
 *     put_8_and_8(out, q, d, e)           eight bytes times d, eight times e
 *     put_twos(out, p, d)                 32 fields of two bits, less 1, times d
 *     put_8_f16 put_8_bf16(out, p)
 *     scales_nvfp4(p, out)                wb__half_of_e4m3 of four bytes
 *     scales_iq4_xs(low, high, d, out)    eight scales of 4 and 2 bits, less 32, times d
 */
