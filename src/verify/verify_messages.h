/*
 * verify/verify_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_VERIFY_VERIFY_MESSAGES_H
#define WB_VERIFY_VERIFY_MESSAGES_H

/* ---- verify_config.c ---- */

#define WB__MSG_VERIFY_NO_CONFIG "the model has no config that specifies its architecture"
#define WB__MSG_VERIFY_ARCHITECTURE                                                                \
    "the architecture is unknown, so the tensors of the model cannot be checked"
#define WB__MSG_VERIFY_CONFIG_PARTIAL                                                              \
    "the config does not contain this field, so tensor shapes are not checked"
#define WB__MSG_VERIFY_TENSORS_UNKNOWN                                                             \
    "%llu tensors do not belong to the architecture %s; this is the first"
#define WB__MSG_VERIFY_TENSORS_REPEATED "%lu tensors have the same canonical name as another tensor"
#define WB__MSG_VERIFY_TENSOR_MISSING                                                              \
    "the architecture requires this tensor, but no file contains it"
#define WB__MSG_VERIFY_LAYERS_INCOMPLETE                                                           \
    "%u more layers lack tensors; they are not reported one by one"
#define WB__MSG_VERIFY_LAYERS_MISSING                                                              \
    "the config specifies %llu layers%s, but the files contain only %lu"
#define WB__MSG_VERIFY_OF_ENCODER " of the encoder"
#define WB__MSG_VERIFY_LAYERS_EXTRA                                                                \
    "the config specifies %llu layers%s, but the files contain layer %lu"
#define WB__MSG_VERIFY_TENSOR_OF_LAYER_0                                                           \
    "layer 0 contains a tensor of this kind, but this layer does not"
#define WB__MSG_VERIFY_RANK "the tensor has %lu dimensions instead of %zu"
#define WB__MSG_VERIFY_SHAPE "dimension %zu (counted from 0) is %llu, but the config requires %llu"
#define WB__MSG_VERIFY_EXPERTS                                                                     \
    "%lu experts of this layer were found, but some are missing or differ from the others"

/* ---- stated_digest.c ---- */

#define WB__MSG_VERIFY_STATED_DIGEST                                                               \
    "the digest of the file differs from the one that its source states (the server, or the "      \
    "name of the blob in the cache)"
#define WB__MSG_VERIFY_DIGEST "the SHA-256 digest of the file differs from the digest in its name"

/* ---- verify_journals.c ---- */

#define WB__MSG_VERIFY_JOURNAL                                                                     \
    "an edit of the file is in progress or was interrupted: its journal exists"
#define WB__MSG_VERIFY_EDIT_HALF "an interrupted edit left the file incomplete (%.400s)"

/* ---- verify_layout.c ---- */

#define WB__MSG_VERIFY_SECOND_GGUF "a second GGUF file begins at this offset"
#define WB__MSG_VERIFY_PADDING "%llu bytes of padding are not 0"
#define WB__MSG_VERIFY_STRINGS "%llu of %llu strings are not valid UTF-8, or contain a NUL byte"

/* ---- verify_metadata.c ---- */

#define WB__MSG_VERIFY_LENGTHS "the array has %llu elements, but there are %llu tokens"
#define WB__MSG_VERIFY_FILE_TYPE                                                                   \
    "the type of the value is not u32; llama.cpp does not load such a file"
#define WB__MSG_VERIFY_NAME_PATH                                                                   \
    "%llu tensor names contain '/' or '..', as paths do; this is the first"

/* ---- verify_public.c ---- */

#define WB__MSG_VERIFY_OPTIONS_FLAGS "wb_verify_options.flags contains unknown flags"

/* ---- verify_values.c ---- */

#define WB__MSG_VERIFY_CANCELLED "cancelled by the progress callback"
#define WB__MSG_VERIFY_NAN "%llu of %llu values are NaN"
#define WB__MSG_VERIFY_NAN_SCALES "%llu of %llu blocks have a scale that is NaN"
#define WB__MSG_VERIFY_INFINITE "%llu of %llu values are infinite"
#define WB__MSG_VERIFY_INFINITE_SCALES "%llu of %llu blocks have a scale that is infinite"
#define WB__MSG_VERIFY_BOOLEANS "%llu of %llu booleans are neither 0 nor 1"
#define WB__MSG_VERIFY_CHECKSUM "the checksum of the tensor does not match its data"
#define WB__MSG_VERIFY_NOT_READ "%llu of %llu tensor bytes were not read"
#define WB__MSG_VERIFY_UNALIGNED                                                                   \
    "%llu tensors are not aligned to the size of their elements; this is the first"

#endif
