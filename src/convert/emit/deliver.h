/*
 * convert/emit/deliver.h: the files of the result, on the way from the plan to the writer.
 */
#ifndef WB_CONVERT_EMIT_DELIVER_H
#define WB_CONVERT_EMIT_DELIVER_H

#include "convert/convert.h"
#include "core/buffer.h"

typedef struct wb__emit_job {
    wb_conversion *conversion;
    wb__context *context;
    wb_writer *writer;
    uint64_t (*indices)[WB__PARTS]; /* of each row's parts in the writer */
    const char *path;
    bool folder;                 /* it is that of a folder */
    const char *kept;            /* ollama: the folder of what is kept, with the journal; NULL */
    bool keeps;                  /* for a next run, if this one does not end */
    bool begun;                  /* the writer has begun to write */
    const wb_progress *progress; /* NULL: nobody waits */
    uint64_t total;              /* bytes of tensors, when all are there */
} wb__emit_job;

/* ---- run.c ---- */

/* Declares the tensors of the result to the writer. */
wb_status wb__emit_tensors(wb__emit_job *out);

/* ---- whole.c: the one file of a model, as it is ---- */

/* Tells the writer of it. */
wb_status wb__emit_passthrough(wb__emit_job *out);

/* Has a former run's part of it taken up, if `known`, and copies the rest; *taken: whether there was some. */
wb_status wb__emit_passthrough_file(wb__emit_job *out, bool known, bool *taken);

/* ---- keys.c ---- */

/* Derives the metadata of sidecar files, so that wb_meta_count and wb_meta_at include it. Fails with MEMORY. */
wb_status wb__emit_all_keys(wb__context *context, const wb_model *model);

/* Sets the key-values of a GGUF file. */
wb_status wb__emit_keys(wb__emit_job *out);

/* ---- folder.c, config_json.c, tokenizer_json.c: what lies beside the weights of a folder ---- */

/* Writes it. */
wb_status wb__emit_sidecars(wb__emit_job *out);

/* What most packed elements of the result are; false if none are packed. */
bool wb__emit_main_form(const wb_conversion *conversion, wb__encoding_spec *spec);

/* The texts of files; nothing is appended where there is nothing to say. */
wb_status wb__emit_config(wb__emit_job *out, wb__buffer *to);
wb_status wb__emit_tokenizer(wb__emit_job *out, wb__buffer *to);
wb_status wb__emit_tokenizer_config(wb__emit_job *out, wb__buffer *to);

/* Of an object, a line each: begins one with its key. */
void wb__emit_member(wb__buffer *to, wb__str key);

/* granted.c: has config.json say what llama.cpp takes for granted. */
void wb__implied_config_add(const wb_conversion *conversion, wb__buffer *to);

/* config_rope.c: says what tensors have of RoPE; *said: there is no more to say of rope_scaling. */
wb_status wb__emit_rope(wb__emit_job *out, wb__buffer *to, bool *said);

/* A writer of JSON at the end of a buffer, and a text as JSON has it. */
wb__json_writer wb__emit_json(wb__buffer *to);
void wb__emit_json_text(wb__buffer *to, wb__str text);

/* Appends a member whose value is JSON text already. */
void wb__emit_raw_member(wb__buffer *out, wb__str key, wb__str raw);

/* Largest JSON file that is made from key-values, in bytes. */
#define WB__EMIT_FILE_MAX ((size_t)256 << 20)

#endif
