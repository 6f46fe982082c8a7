/*
 * modelfile.h: what `ollama show --modelfile` would say of a model.
 */
#ifndef WB_CLI_MODELFILE_H
#define WB_CLI_MODELFILE_H

#include "text.h"
#include "weighbridge.h"

/*
 * Adds the Modelfile of a model that was opened as `path`. False, with nothing added, where it comes
 * from no Ollama store.
 *
 * Lines, quotes and order are Ollama's, but for two things that it does wrong: a model in tensors is
 * FROM its name, where Ollama leaves FROM empty, and whole numbers are digits however large, where it
 * writes 1e+06, which it does not read back.
 */
bool text_add_modelfile(text *t, const wb_model *model, const char *path);

#endif
