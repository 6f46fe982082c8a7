/* quant/lanes/encode_iq_table.h: lists the encoders in encode_iq.h and encode_iq1.h. */

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_IQ2_XXS, .encode = encode_iq2_xxs},
    {.dtype = WB_DTYPE_IQ2_XS, .encode = encode_iq2_xs},
    {.dtype = WB_DTYPE_IQ2_S, .encode = encode_iq2_s},
    {.dtype = WB_DTYPE_IQ3_XXS, .encode = encode_iq3_xxs},
    {.dtype = WB_DTYPE_IQ3_S, .encode = encode_iq3_s},
    {.dtype = WB_DTYPE_IQ1_S, .encode = encode_iq1_s},
    {.dtype = WB_DTYPE_IQ1_M, .encode = encode_iq1_m},
};
