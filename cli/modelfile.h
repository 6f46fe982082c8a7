/* modelfile.h: the Modelfile of a model in an Ollama store, as `ollama show --modelfile` prints it.
 */
#ifndef WB_CLI_MODELFILE_H
#define WB_CLI_MODELFILE_H

#include "text.h"
#include "weighbridge.h"

/* Adds the Modelfile of a model that was opened as `path`. Returns false and adds nothing if the
 * model is not from an Ollama store.
 *
 * Lines, quotes and order are the same as Ollama's, with two corrections. For a model stored as
 * separate tensors, FROM names the model; Ollama leaves FROM empty. Large integers are written in
 * full; Ollama writes 1e+06, which it cannot read back.
 */
bool text_add_modelfile(text *t, const wb_model *model, const char *path);

#endif
