/*
 * weighbridge/dtypes.h: the element types. Generated from src/dtype/dtypes.def by
 * scripts/generate.sh; do not edit.
 *
 * The numbers are part of the ABI and are never reused. Those below 96 are ggml's type numbers.
 */
#ifndef WEIGHBRIDGE_DTYPES_H
#define WEIGHBRIDGE_DTYPES_H

typedef enum wb_dtype {
    WB_DTYPE_F32 = 0, /* IEEE 754 binary32 */
    WB_DTYPE_F16 = 1, /* IEEE 754 binary16 */
    WB_DTYPE_I8 = 24, /* signed 8-bit integer */
    WB_DTYPE_I16 = 25, /* signed 16-bit integer */
    WB_DTYPE_I32 = 26, /* signed 32-bit integer */
    WB_DTYPE_I64 = 27, /* signed 64-bit integer */
    WB_DTYPE_F64 = 28, /* IEEE 754 binary64 */
    WB_DTYPE_BF16 = 30, /* bfloat16: the upper half of a binary32 */
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
