/* messages.h: error and warning messages of the command, grouped by the source file that uses them
 * first.
 */
#ifndef WB_CLI_MESSAGES_H
#define WB_CLI_MESSAGES_H

/* arguments.c */

#define MSG_COMMAND_UNKNOWN "there is no command '%.200s'"
#define MSG_COMMAND_UNKNOWN_SUGGESTION "there is no command '%.200s'; did you mean '%s'?"
#define MSG_COMMAND_SYNONYM "there is no command '%.200s'; use 'wb %s'"
#define MSG_OPTION_UNKNOWN "there is no option %s%.200s"
#define MSG_OPTION_UNKNOWN_SUGGESTION "there is no option %s%.200s; did you mean --%s?"
#define MSG_OPTION_TAKES_NO_VALUE "--%s takes no value"
#define MSG_OPTION_NEEDS_VALUE "--%s needs a value: --%s %s"
#define MSG_OPTION_VALUE_INVALID "--%s must be one of %s"
#define MSG_OPTION_VALUE_MEANT "--%s must be one of %s; did you mean %.*s?"
#define MSG_COMMAND_MISSING "Missing command. Usage: wb COMMAND PATH..."
#define MSG_COMMAND_HAS_NO_OPTION "'wb %s' has no option --%s"
#define MSG_OPERAND_MISSING "Missing argument. Usage: wb %s %s"
#define MSG_OPERAND_UNEXPECTED "Unexpected argument '%.200s'. Usage: wb %s %s"

/* check.c */

#define MSG_MANIFEST_TWO_STDIN "only one of model and manifest can be standard input"
#define MSG_MANIFEST_ONE_PATH "a manifest describes one model: give a single PATH"

/* codec.c */

#define MSG_TYPE_UNKNOWN "there is no type '%.200s'; 'wb codec list' lists all types"
#define MSG_COLS_INVALID "--cols must be the number of values in a row"
#define MSG_TYPE_MEANT "there is no type '%.200s'; did you mean %s? 'wb codec list' lists all types"
#define MSG_IMPORTANCE_NOT_USED "an importance matrix can be used only to encode GGML types"
#define MSG_IMPORTANCE_SIZE                                                                        \
    "the importance matrix must contain exactly one row of binary32 values, which has %llu "       \
    "bytes"
#define MSG_CODEC_LIST_OPERANDS "'wb codec list' takes no further arguments"
#define MSG_CODEC_VERB "the operation must be list, encode or decode, for example 'wb codec list'"
#define MSG_CODEC_TYPE_AND_COLS "--type and --cols are required: they describe the data"
#define MSG_JSON_AND_STDOUT "--json and the output '-' cannot both use standard output"

/* export.c */

#define MSG_EXPORT_DTYPE_UNKNOWN "there is no dtype '%.200s'"
#define MSG_JSON_AND_O_STDOUT "--json and -o - cannot both use standard output"
#define MSG_NPY_SUBBYTE                                                                            \
    "elements of %s are smaller than a byte, which .npy does not support: use --format raw"
#define MSG_NPY_BLOCKS "%s stores blocks, not single values: use --format raw"
#define MSG_NPY_SHAPE_TOO_LONG "the shape is too long for .npy: use --format raw"
#define MSG_TERMINAL_EXPORT "cannot write %s to a terminal: give -o FILE, or --format text"
#define MSG_OUTPUT_IS_MODEL "the output would overwrite a file of the model"
#define MSG_SLICE_AND_PART "--slice and --part cannot be combined"
#define MSG_O_MISSING "-o is missing: give -o FILE, or -o - for standard output"

/* codec_io.c */

#define MSG_CANNOT_READ "cannot read: %s"
#define MSG_TERMINAL_RAW_FILE "cannot write raw bytes to a terminal: name an output file"
#define MSG_OUTPUT_IS_INPUT "the output would overwrite an input file"
#define MSG_PARTIAL_ROW                                                                            \
    "%llu bytes are not a whole number of rows: %llu values of %s take %llu bytes"

/* codec_mlx.c */

#define MSG_GLOBAL_SCALE_SHAPE "the tensor global_scale must have exactly one element"
#define MSG_MLX_AFFINE_TENSORS_MISSING "the file must contain the tensors weight, scales and biases"
#define MSG_MLX_TENSORS_MISSING "the file must contain the tensors weight and scales"
#define MSG_MLX_SIZES_DIFFER                                                                       \
    "the sizes of weight, scales and biases do not match this type and number of columns"

/* convert.c */

#define MSG_NUMBER_INVALID "--%s takes a number of at least 1"
#define MSG_BYTES_INVALID "--%s takes a number of bytes such as 500M or 5GB"
#define MSG_FOLDER_NOT_READABLE                                                                    \
    "the folder cannot be listed, so only sidecar files with known names are copied"
#define MSG_SUBFOLDER_NOT_COPIED "files in subfolders are not copied: copy this file yourself"
#define MSG_OPTION_HAS_NO_EFFECT "--%s has no effect on the output format %s, only on the format %s"
#define MSG_OUTPUT_IS_READ "the output would overwrite an input file"
#define MSG_OUTPUT_FORMAT_UNKNOWN "the name of the output does not imply a format: give --to"
#define MSG_OUTPUT_NAME_EMPTY "the name of the output is empty"
#define MSG_TERMINAL_MODEL "cannot write a model to a terminal: name an output file"

/* convert_partial.c */

#define MSG_PARTIAL_KEPT                                                                           \
    "the partial result is kept: %.1000s\n    The same command continues the conversion. "         \
    "'wb convert --discard %.600s' removes the partial result."

/* convert_replace.c */

#define MSG_REPLACE_QUESTION "%.600s. Replace it? [y/N]"

/* diff.c */

#define MSG_DIFF_TWO_STDIN "only one of the two models can be standard input"

/* edit.c */

#define MSG_KEY_MISSING "%.900s\n    --ignore-missing accepts keys that do not exist."
#define MSG_OPTION_NEEDS_PAIR "--%s takes two words separated by '='"
#define MSG_ALIGNMENT_MISSING "--alignment is missing"
#define MSG_LINKS_KEPT                                                                             \
    "warning: other hard links of the file (%llu) keep its contents from before the edit"
#define MSG_LINKS_CHANGED "warning: the edit also changes the other hard links of the file (%llu)"

/* edit_config.c */

#define MSG_CONFIG_NOT_UTF8 "config.json: '%.600s': a JSON string must be valid UTF-8"
#define MSG_CONFIG_OUTSIDE                                                                         \
    "the file is a symbolic link that leads outside the folder: use --follow-links if you trust "  \
    "the folder, or replace the link by a copy of the file"
#define MSG_CONFIG_NOT_OBJECT "the file does not contain a JSON object"

/* edit_values.c */

#define MSG_CANNOT_READ_FILE "cannot read the file: %s"
#define MSG_NOT_REGULAR_FILE "not a regular file"

/* get.c */

#define MSG_TERMINAL_RAW_O "cannot write raw bytes to a terminal: give -o FILE"
#define MSG_VALUES_OVERFLOWED "%llu values are too large for %s and became infinite"
#define MSG_VALUES_UNDERFLOWED "%llu values are too small for %s and became 0"

/* generate.c */

#define MSG_GENERATE_NEEDS_PATH "--generate %s needs a path"

/* hash.c */

#define MSG_MANIFEST_IS_MODEL "the manifest would overwrite a file of the model"
#define MSG_MANIFEST_AND_JSON "--manifest - and --json would both go to standard output"

/* load.c */

#define MSG_COLD_AND_WARM "--cold and --warm cannot be combined"
#define MSG_DTYPE_UNKNOWN "the value of --dtype is not the name of a dtype"

/* main.c */

#define MSG_JOBS_INVALID "--jobs must be a number of threads from 1 to %d"

/* options.c */

#define MSG_MAX_HEADER_INVALID "--max-header must be a number of bytes below 4G, such as 512M"

/* out.c */

#define MSG_STDOUT_WRITE "standard output: cannot write: %s"

/* paths.c */

#define MSG_PATHS_NOT_ONE_MODEL                                                                    \
    "%zu paths match, but together they are not one model; name one of them"
#define MSG_PATHS_ONE_TO_CHANGE                                                                    \
    "%zu paths match, but only one file can be changed; name one of them"
#define MSG_NO_FILE_MATCHES "no file matches"

/* modelfile.c */

#define MSG_MODELFILE_QUOTES                                                                       \
    "a line of a text ended with three quotation marks, which would end the text in the "          \
    "Modelfile; a space was added before the last of the three"
#define MSG_MODELFILE_PARAMETER                                                                    \
    "a parameter was omitted, because its name contains other characters than letters, digits "    \
    "and '_'"
#define MSG_MODELFILE_ROLE                                                                         \
    "a message was omitted, because its role is not system, user or assistant"

/* recast.c */

#define MSG_RULE_INVALID "--rule needs a regular expression and a type, such as 'attn_v=Q6_K'"
#define MSG_QUANT_UNKNOWN "unknown quantization \"%.64s\"; 'wb help convert' names them"
#define MSG_QUANT_MEANT "unknown quantization \"%.64s\"; did you mean %s?"
#define MSG_STREAM_NEEDS_COPY                                                                      \
    "a conversion cannot write to standard output, a pipe or a device: name a file or a folder"
#define MSG_MLX_NEEDS_FOLDER "an MLX model is a folder: name a folder as the output"

/* remote.c */

#define MSG_REMOTE_COMMAND "'wb %s' takes no addresses, only files of this machine"
#define MSG_REMOTE_OUTPUT "the output must be on this machine, not at an address"
#define MSG_REMOTE_RETRIES "--retries needs a number from 0 to 1000"
#define MSG_REMOTE_SANDBOX "the network cannot be used in the sandbox: download the model first"

/* sandbox.c */

#define MSG_SANDBOX_UNAVAILABLE "the sandbox is unavailable: %s"
#define MSG_SANDBOX_ALL_READABLE                                                                   \
    "warning: the system cannot restrict which files are read (Landlock: %s), so all files of "    \
    "the "                                                                                         \
    "user are readable in the sandbox"
#define MSG_SANDBOX_ALL_WRITABLE                                                                   \
    "warning: the system cannot restrict which files are read and written (Landlock: %s), so all " \
    "files of the user are readable and writable in the sandbox"
#define MSG_SANDBOX_PLATFORM "--sandbox needs Linux on x86-64 or AArch64"

/* upload.c */

#define MSG_UPLOAD_DIFFERS                                                                         \
    "the data on the device differs from tensor %llu of the file, from byte %llu of the tensor on"

#endif
