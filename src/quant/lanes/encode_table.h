/*
 * quant/lanes/encode_table.h: lists the encoders in encode_k.h, encode_blocks.h and encode_iq4.h.
 */

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_Q2_K, .encode = encode_q2_k},
    {.dtype = WB_DTYPE_Q3_K, .encode = encode_q3_k},
    {.dtype = WB_DTYPE_Q4_K, .encode = encode_q4_k},
    {.dtype = WB_DTYPE_Q5_K, .encode = encode_q5_k},
    {.dtype = WB_DTYPE_Q6_K, .encode = encode_q6_k},
    {.dtype = WB_DTYPE_Q4_0, .encode = encode_q4_0},
    {.dtype = WB_DTYPE_Q4_1, .encode = encode_q4_1},
    {.dtype = WB_DTYPE_Q5_0, .encode = encode_q5_0},
    {.dtype = WB_DTYPE_Q5_1, .encode = encode_q5_1},
    {.dtype = WB_DTYPE_Q8_0, .encode = encode_q8_0},
    {.dtype = WB_DTYPE_Q8_1, .encode = encode_q8_1},
    {.dtype = WB_DTYPE_Q8_K, .encode = encode_q8_k},
    {.dtype = WB_DTYPE_MXFP4, .encode = encode_mxfp4},
    {.dtype = WB_DTYPE_NVFP4, .encode = encode_nvfp4},
    {.dtype = WB_DTYPE_IQ4_NL, .encode = encode_iq4_nl},
    {.dtype = WB_DTYPE_IQ4_XS, .encode = encode_iq4_xs},
    {.dtype = WB_DTYPE_F16, .encode = encode_f16},
    {.dtype = WB_DTYPE_BF16, .encode = encode_bf16},
};
