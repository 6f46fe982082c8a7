/* edit.h: parsing of metadata values (edit_values.c, edit_array.c), and editing of config.json in a
 * directory (edit_config.c).
 */
#ifndef WB_CLI_EDIT_H
#define WB_CLI_EDIT_H

#include "options.h"
#include "text.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* A value and the memory that it points to. Zero it before use and free it with edit_value_free. */
typedef struct edit_value {
    wb_value value;
    text strings;
    void *items;
    size_t *lens;
    bool of_numbers; /* an array of numbers, but no type can represent all of them */
} edit_value;

/* A model and the edits that precede the current edit. Both determine the type of a key. */
typedef struct edit_state {
    const wb_model *model; /* NULL: the file is not GGUF */
    const wb_edit *edits;
    size_t count;
} edit_state;

/* JSON text. */
typedef struct json_bytes {
    const char *ptr;
    size_t n;
} json_bytes;

/* Parses the value for a metadata key. In GGUF, the type is given by a prefix "TYPE:", or is the
 * type that the key has after the preceding edits, or is guessed from the value. The result may
 * point into `typed`. Returns 0, or an exit code after reporting the error.
 */
int edit_read_value(const edit_state *state, const char *key, const char *typed, edit_value *to);

/* Reads the value for a metadata key from the file at `path`. If the key is an array, the file must
 * contain a JSON array; otherwise the value is a string with the content of the file.
 */
int edit_read_file_value(const edit_state *state, const char *key, const char *path,
                         edit_value *to);

void edit_value_free(edit_value *value);

/* Parses a JSON array into *to. The element type and width are taken from to->value; if the element
 * type is 0, they are guessed from the elements. Returns NULL, or a message that describes the
 * error.
 */
const char *edit_read_array(const char *json, size_t n, edit_value *to);

/* Returns true if a float with `bits` bits can represent `real` without overflow to infinity or
 * underflow to 0. Infinity itself fits every width.
 */
bool edit_fits_float(double real, uint32_t bits);

/* Appends the content of a file. Returns 0, or an exit code after reporting the error. */
int edit_read_text(const char *path, text *to);

/* Same as edit_read_text, but accepts only regular files. A FIFO named config.json would block. */
int edit_read_config(const char *path, text *to);

/* Returns true if the file has this metadata key after the preceding edits. */
bool edit_key_exists(const edit_state *before, const char *key, size_t len);

/* The value of a key before an edit. */
typedef struct edit_origin {
    bool exists;
    const wb_value *value; /* set by a preceding edit; NULL: `meta` is the entry of the file */
    wb_meta meta;
} edit_origin;

/* Finds the value that a key has after the preceding edits. */
edit_origin edit_find_old(const edit_state *before, const char *key, size_t len);

/* A description of all changes, which is made before the file changes, because old values can point
 * into the file. It is a line per change, such as "KEY: OLD -> NEW", or a JSON array (--json).
 */
typedef struct edit_changes {
    text shown;
    bool is_json;
    wb_json json; /* appends to `shown` */
} edit_changes;

/* `changes` must stay at the same address until edit_changes_close. */
void edit_changes_open(edit_changes *changes, bool is_json);
void edit_changes_add(edit_changes *changes, const edit_state *before, const wb_edit *edit);
void edit_changes_close(edit_changes *changes);

/* Write a change as a JSON object. In config.json, values are JSON text; empty text: no value. */
void json_edit(wb_json *json, const edit_state *before, const wb_edit *edit);
void json_config_edit(wb_json *json, const char *kind, const char *key, json_bytes old,
                      json_bytes new);

/* Prints the changes of a file, one per line; nothing if there are none. */
void edit_print_changes(const char *path, const edit_changes *changes);

/* Prints the result of an edit as a JSON object (--json). */
void edit_answer_json(const char *path, const wb_edited *edited, edit_changes *changes);

/* Warns if the file has other hard links. An edit in place also changes the other links. If a new
 * file replaces the old one, the other links keep the old contents.
 */
void edit_warn_links(const char *path, const wb_edited *edited);

/* Applies the edits of the command line to config.json in a directory. Returns the exit code. */
int edit_config(const arguments *args, const char *folder);

#endif
