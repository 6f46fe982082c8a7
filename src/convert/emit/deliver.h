/* convert/emit/deliver.h: passes the output from the plan to the writer. */
#ifndef WB_CONVERT_EMIT_DELIVER_H
#define WB_CONVERT_EMIT_DELIVER_H

#include "convert/convert.h"
#include "core/buffer.h"

typedef struct wb__emit_job {
    wb_conversion *conversion;
    wb__context *context;
    wb_writer *writer;
    uint64_t (*indices)[WB__PARTS]; /* indices of each row's parts in the writer */
    const char *path;
    bool folder;                 /* `path` is the path of a directory */
    const char *kept;            /* Ollama: directory of the partial output and its journal;
                                  * NULL: none */
    bool keeps;                  /* keep partial output for a later run if this run fails */
    bool begun;                  /* the writer has started to write */
    const wb_progress *progress; /* NULL: no progress reports */
    uint64_t total;              /* total bytes of all tensors */
} wb__emit_job;

/* ---- exec/run.c ---- */

/* Declares the output tensors to the writer. */
wb_status wb__emit_tensors(wb__emit_job *out);

/* ---- emit/passthrough.c: copies the single file of a model unchanged ---- */

/* Creates the writer and declares the file to copy. */
wb_status wb__emit_passthrough(wb__emit_job *out);

/* Copies the file. If `known`, resumes from the partial file of an earlier run. *taken is true
 * if bytes of an earlier run were reused. */
wb_status wb__emit_passthrough_file(wb__emit_job *out, bool known, bool *taken);

/* ---- emit/gguf_metadata.c ---- */

/* Makes the model derive all metadata, including that of config.json and tokenizer files. Fails
 * with MEMORY. */
wb_status wb__emit_all_keys(wb__context *context, const wb_model *model);

/* Sets the key-values of a GGUF file. */
wb_status wb__emit_keys(wb__emit_job *out);

/* ---- emit/sidecars_out.c, config_json_out.c, tokenizer_json_out.c: sidecar files ---- */

/* Writes the sidecar files. */
wb_status wb__emit_sidecars(wb__emit_job *out);

/* Sets *spec to the packed encoding with the most elements in the output. Returns false if no
 * tensor is packed. */
bool wb__emit_main_form(const wb_conversion *conversion, wb__encoding_spec *spec);

/* Generate the text of sidecar files. They append nothing if the file is not needed. */
wb_status wb__emit_config(wb__emit_job *out, wb__buffer *to);
wb_status wb__emit_tokenizer(wb__emit_job *out, wb__buffer *to);
wb_status wb__emit_tokenizer_config(wb__emit_job *out, wb__buffer *to);

/* Begins a member of a JSON object on a new line and writes its key. */
void wb__emit_member(wb__buffer *to, wb__str key);

/* plan/implied_config.c: adds the defaults that llama.cpp implies to config.json. */
void wb__implied_config_add(const wb_conversion *conversion, wb__buffer *to);

/* emit/config_json_rope.c: writes RoPE parameters that GGUF stores as tensors. Sets *said to
 * true if rope_scaling needs no other source. */
wb_status wb__emit_rope(wb__emit_job *out, wb__buffer *to, bool *said);

/* Return a JSON writer that appends to a buffer, and append a JSON string. */
wb__json_writer wb__emit_json(wb__buffer *to);
void wb__emit_json_text(wb__buffer *to, wb__str text);

/* Appends a member whose value is already JSON text. */
void wb__emit_raw_member(wb__buffer *out, wb__str key, wb__str raw);

/* Maximum size of a JSON file generated from key-values, in bytes. */
#define WB__EMIT_FILE_MAX ((size_t)256 << 20)

#endif
