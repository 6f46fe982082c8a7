/*
 * edit.h: values of metadata (edit_values.c, edit_array.c), and the edits of config.json in a folder
 * (edit_config.c).
 */
#ifndef WB_CLI_EDIT_H
#define WB_CLI_EDIT_H

#include "options.h"
#include "text.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* A value, and what it points to. Clear it before use, and edit_value_free it afterwards. */
typedef struct edit_value {
    wb_value value;
    text strings;
    void *items;
    size_t *lens;
    bool of_numbers; /* an array of numbers, all of which no type that is guessed holds */
} edit_value;

/* A model when some edits are carried out: what they did to a key tells the type it has. */
typedef struct edit_state {
    const wb_model *model; /* NULL: one that does not open */
    const wb_edit *edits;
    size_t count;
} edit_state;

/*
 * Reads a value for a key of a model: in GGUF of the type that the key has by then, or that "TYPE:" in front
 * says, or that it looks to be of. 0, or the exit code after saying why not. The value may point into `typed`.
 */
int edit_read_value(const edit_state *state, const char *key, const char *typed, edit_value *to);

/* The same from a file: an array where the key is one, else its text as a string. */
int edit_read_file_value(const edit_state *state, const char *key, const char *path,
                         edit_value *to);

void edit_value_free(edit_value *value);

/*
 * Reads an array from JSON, of the element and bits that the value has; element 0: those its elements
 * look to be of. What is wrong with it, or NULL.
 */
const char *edit_read_array(const char *json, size_t n, edit_value *to);

/* Whether a float of that many bits is no other number: not infinite, nor 0. What is called infinite is held by all. */
bool edit_fits_float(double real, uint32_t bits);

/* Appends the text of a file. 0, or the exit code after saying why not. */
int edit_read_text(const char *path, text *to);

/* The same of a regular file only: nothing else is waited for that lies where a config.json should. */
int edit_read_config(const char *path, text *to);

/* The answer of --json. */
void edit_answer_json(const char *path, const wb_edited *edited);

/* Carries the edits of the command line out on the config.json of a folder. The exit code. */
int edit_config(const arguments *args, const char *folder);

#endif
