/* quant/scalar/iq.h: the encoders of the codebook types, for the kernel table in iq.c. */
#ifndef WB_QUANT_SCALAR_IQ_H
#define WB_QUANT_SCALAR_IQ_H

#include "quant/quant.h"

wb__encode wb__encode_iq2_xxs, wb__encode_iq2_xs, wb__encode_iq2_s, wb__encode_iq3_xxs,
    wb__encode_iq3_s, wb__encode_iq1_s, wb__encode_iq1_m;

#endif
