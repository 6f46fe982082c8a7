/* convert/emit/deliver.h: passes the planned output to the writer. */
#ifndef WB_CONVERT_EMIT_DELIVER_H
#define WB_CONVERT_EMIT_DELIVER_H

#include "convert/convert.h"
#include "core/buffer.h"

typedef struct wb__emit_job {
    wb_conversion *conversion;
    wb__context *context;
    wb_writer *writer;
    /* A row of the plan becomes one output tensor per part (values, scales, biases).
     * indices[row][part] is the index of this output tensor in `writer`. */
    uint64_t (*indices)[WB__PARTS];
    const char *path;
    bool folder; /* `path` is the path of a directory, not of a file */
    /* For a resumable conversion to an Ollama store: path of the directory that contains the
     * partial output and the journal. NULL: another target, or not resumable. */
    const char *kept;
    bool keeps;                  /* if this run fails, its partial output is kept for a later run */
    bool begun;                  /* wb_writer_begin has succeeded */
    const wb_progress *progress; /* NULL: the caller wants no progress reports */
    uint64_t total;              /* sum of the bytes of all output tensors */
} wb__emit_job;

/* ---- exec/run.c ---- */

/* Declares all output tensors to the writer. */
wb_status wb__emit_tensors(wb__emit_job *out);

/* ---- emit/passthrough.c: copies the single file of a model unchanged ---- */

/* Creates the writer and declares the file that is copied. */
wb_status wb__emit_passthrough(wb__emit_job *out);

/* Copies the file. `known`: an earlier run of this plan has left a journal, so its partial data can
 * be reused. Sets *taken to true if data of an earlier run were reused. */
wb_status wb__emit_passthrough_file(wb__emit_job *out, bool known, bool *taken);

/* ---- emit/gguf_metadata.c ---- */

/* Derives all metadata of the model, including the metadata from config.json and tokenizer files.
 * Returns WB_ERROR_MEMORY if out of memory. */
wb_status wb__emit_all_keys(wb__context *context, const wb_model *model);

/* Sets the key-values of a GGUF output. */
wb_status wb__emit_keys(wb__emit_job *out);

/* ---- emit/sidecars_out.c, config_json_out.c, tokenizer_json_out.c: sidecar files ---- */

/* Adds all sidecar files to the writer. */
wb_status wb__emit_sidecars(wb__emit_job *out);

/* Sets *spec to the packed encoding that is used for the largest number of elements of the output.
 * Returns false if no output tensor is packed. */
bool wb__emit_main_form(const wb_conversion *conversion, wb__encoding_spec *spec);

/* Append the text of a sidecar file to *to. They append nothing if the output does not need the
 * file. */
wb_status wb__emit_config(wb__emit_job *out, wb__buffer *to);
wb_status wb__emit_tokenizer(wb__emit_job *out, wb__buffer *to);
wb_status wb__emit_tokenizer_config(wb__emit_job *out, wb__buffer *to);

/* Begins a JSON member on a new line and writes its key. */
void wb__emit_member(wb__buffer *to, wb__str key);

/* emit/config_json_family.c: adds the members of config.json that the description of the family
 * (arch/families) defines and that the derived metadata cannot contain, for example null. */
void wb__emit_family_members(const wb_conversion *conversion, wb__buffer *to);

/* emit/config_json_family.c: adds the members that mlx-lm needs and that config.json does not have.
 * Does nothing for another target. */
void wb__emit_mlx_members(const wb_conversion *conversion, wb__buffer *to);

/* emit/config_json_rope.c: writes rope_scaling if it must be computed from GGUF tensors or
 * key-values. Sets *said to false if the caller must instead copy rope_scaling from the derived
 * metadata, otherwise to true. */
wb_status wb__emit_rope(wb__emit_job *out, wb__buffer *to, bool *said);

/* wb__emit_json returns a JSON writer that appends to the buffer. wb__emit_json_text appends a
 * JSON string. */
wb__json_writer wb__emit_json(wb__buffer *to);
void wb__emit_json_text(wb__buffer *to, wb__str text);

/* Appends a member. `raw` is its value as JSON text. */
void wb__emit_raw_member(wb__buffer *out, wb__str key, wb__str raw);

/* Maximum size of a generated JSON file, in bytes. */
#define WB__EMIT_FILE_MAX ((size_t)256 << 20)

#endif
