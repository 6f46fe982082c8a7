/* values.h: formats floats in the fewest digits that read back as the same value; special values
 * are nan, inf and -inf.
 */
#ifndef WB_CLI_VALUES_H
#define WB_CLI_VALUES_H

#include "text.h"

void text_add_f32(text *t, float value);
void text_add_f64(text *t, double value);

#endif
