/*
 * weighbridge/dtypes.h: the element types. Generated from src/dtype/dtypes.def by
 * scripts/generate.sh; do not edit.
 *
 * The numbers are part of the ABI and are never reused. Numbers below 96 are ggml's type numbers.
 */
#ifndef WEIGHBRIDGE_DTYPES_H
#define WEIGHBRIDGE_DTYPES_H

typedef enum wb_dtype {
    WB_DTYPE_F32 = 0, /* IEEE 754 binary32 */
    WB_DTYPE_F16 = 1, /* IEEE 754 binary16 */
    WB_DTYPE_Q4_0 = 2, /* 4 bits and a scale, blocks of 32 */
    WB_DTYPE_Q4_1 = 3, /* 4 bits, a scale and a minimum, blocks of 32 */
    WB_DTYPE_Q5_0 = 6, /* 5 bits and a scale, blocks of 32 */
    WB_DTYPE_Q5_1 = 7, /* 5 bits, a scale and a minimum, blocks of 32 */
    WB_DTYPE_Q8_0 = 8, /* 8 bits and a scale, blocks of 32 */
    WB_DTYPE_Q8_1 = 9, /* 8 bits, a scale and the sum, blocks of 32; for activations */
    WB_DTYPE_Q2_K = 10, /* 2 bits, 4-bit scales and minima, blocks of 256 */
    WB_DTYPE_Q3_K = 11, /* 3 bits, 6-bit scales, blocks of 256 */
    WB_DTYPE_Q4_K = 12, /* 4 bits, 6-bit scales and minima, blocks of 256 */
    WB_DTYPE_Q5_K = 13, /* 5 bits, 6-bit scales and minima, blocks of 256 */
    WB_DTYPE_Q6_K = 14, /* 6 bits, 8-bit scales, blocks of 256 */
    WB_DTYPE_Q8_K = 15, /* 8 bits, a binary32 scale and sums, blocks of 256; for activations */
    WB_DTYPE_IQ2_XXS = 16, /* 2.06 bits from a codebook of 256, blocks of 256 */
    WB_DTYPE_IQ2_XS = 17, /* 2.31 bits from a codebook of 512, blocks of 256 */
    WB_DTYPE_IQ3_XXS = 18, /* 3.06 bits from a codebook of 256, blocks of 256 */
    WB_DTYPE_IQ1_S = 19, /* 1.56 bits from a codebook of 2048, blocks of 256 */
    WB_DTYPE_IQ4_NL = 20, /* 4 bits that choose among 16 uneven levels, blocks of 32 */
    WB_DTYPE_IQ3_S = 21, /* 3.44 bits from a codebook of 512, blocks of 256 */
    WB_DTYPE_IQ2_S = 22, /* 2.56 bits from a codebook of 1024, blocks of 256 */
    WB_DTYPE_IQ4_XS = 23, /* 4 bits that choose among 16 uneven levels, 6-bit scales, blocks of 256 */
    WB_DTYPE_I8 = 24, /* signed 8-bit integer */
    WB_DTYPE_I16 = 25, /* signed 16-bit integer */
    WB_DTYPE_I32 = 26, /* signed 32-bit integer */
    WB_DTYPE_I64 = 27, /* signed 64-bit integer */
    WB_DTYPE_F64 = 28, /* IEEE 754 binary64 */
    WB_DTYPE_IQ1_M = 29, /* 1.75 bits from a codebook of 2048, blocks of 256 */
    WB_DTYPE_BF16 = 30, /* bfloat16: the upper half of a binary32 */
    WB_DTYPE_TQ1_0 = 34, /* 1.69 bits: -1, 0, 1 and a scale, five to a byte, blocks of 256 */
    WB_DTYPE_TQ2_0 = 35, /* 2.06 bits: -1, 0, 1 and a scale, four to a byte, blocks of 256 */
    WB_DTYPE_MXFP4 = 39, /* OCP MXFP4: F4 values and an E8M0 scale, blocks of 32 */
    WB_DTYPE_NVFP4 = 40, /* F4 values and an unsigned E4M3 scale for every 16, blocks of 64 */
    WB_DTYPE_Q1_0 = 41, /* a sign and a scale, blocks of 128 */
    WB_DTYPE_Q2_0 = 42, /* 2 bits for -1, 0, 1, 2 and a scale, blocks of 64 */
    WB_DTYPE_U8 = 128, /* unsigned 8-bit integer */
    WB_DTYPE_U16 = 129, /* unsigned 16-bit integer */
    WB_DTYPE_U32 = 130, /* unsigned 32-bit integer */
    WB_DTYPE_U64 = 131, /* unsigned 64-bit integer */
    WB_DTYPE_BOOL = 132, /* boolean, a byte each */
    WB_DTYPE_C64 = 133, /* complex number of two binary32, real part first */
    WB_DTYPE_F8_E4M3 = 134, /* OCP FP8 E4M3: largest value 448 */
    WB_DTYPE_F8_E5M2 = 135, /* OCP FP8 E5M2: largest value 57344 */
    WB_DTYPE_F8_E8M0 = 136, /* OCP MX scale: 2^-127 to 2^127 */
    WB_DTYPE_F8_E4M3FNUZ = 137, /* FP8 E4M3 without negative zero and infinity: largest value 240 */
    WB_DTYPE_F8_E5M2FNUZ = 138, /* FP8 E5M2 without negative zero and infinity: largest value 57344 */
    WB_DTYPE_F6_E2M3 = 139, /* OCP FP6 E2M3, four values in three bytes: largest value 7.5 */
    WB_DTYPE_F6_E3M2 = 140, /* OCP FP6 E3M2, four values in three bytes: largest value 28 */
    WB_DTYPE_F4 = 141 /* OCP FP4 E2M1, two values in a byte, the lower bits first: largest value 6 */
} wb_dtype;

#endif
