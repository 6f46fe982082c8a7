/*
 * handle/config_json.h: config.json of the model directory and the quantization settings in it.
 *
 * config.json is read when the model is opened, because it specifies how tensors are packed. A
 * missing config is not an error. A damaged config is a finding, and the model opens without it.
 */
#ifndef WB_HANDLE_CONFIG_JSON_H
#define WB_HANDLE_CONFIG_JSON_H

#include "arch/quantization.h"
#include "core/core.h"
#include "json/tree.h"

typedef struct wb__config_json {
    wb_allocator allocator;
    char *text; /* text of config.json; the tree points into it */
    size_t text_bytes;
    wb__tree config;
    bool has_config;
} wb__config_json;

/*
 * Reads a whole file of at most limits.json_bytes bytes and appends a NUL. *text is NULL if the
 * file does not exist. *bytes is the length without the NUL. The caller frees *text with the
 * context's allocator and the size *bytes + 1. wb__source_open_in (io/io.h) describes `folder`.
 */
wb_status wb__read_text(wb__context *context, const char *folder, const char *path, char **text,
                        size_t *bytes);

/* Reads the config from the file `path` in `folder`. A missing file is not an error. */
wb_status wb__config_json_read(wb__config_json *config_json, wb__context *context,
                               const char *folder, const char *path);

/* Uses a copy of `text` as the config. `label` is the name of the file in findings. Damaged JSON
 * does not make the call fail; it only causes a finding. */
wb_status wb__config_json_take(wb__config_json *config_json, wb__context *context,
                               const char *label, wb__str text);

void wb__config_json_free(wb__config_json *config_json);

#endif
