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
 * Reads a whole file of at most limits.json_bytes into memory of the context's allocator. *bytes is
 * its length without the NUL that is appended. *text stays NULL if the file does not exist. Free
 * *bytes + 1 bytes.
 */
wb_status wb__read_text(wb__context *context, const char *path, char **text, size_t *bytes);

/* Reads the config from `path`. The file may be missing. */
wb_status wb__config_json_read(wb__config_json *config_json, wb__context *context,
                               const char *path);

/* Copies a JSON text that is the config. Errors name `label`. A damaged text is a finding. */
wb_status wb__config_json_take(wb__config_json *config_json, wb__context *context,
                               const char *label, wb__str text);

void wb__config_json_free(wb__config_json *config_json);

#endif
