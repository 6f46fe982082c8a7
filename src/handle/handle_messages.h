/*
 * handle/handle_messages.h: texts of the errors and findings of this module, grouped by source
 * file.
 */
#ifndef WB_HANDLE_HANDLE_MESSAGES_H
#define WB_HANDLE_HANDLE_MESSAGES_H

/* ---- config_json.c ---- */

#define WB__MSG_HANDLE_IS_FOLDER "the path is a folder; a file is required"
#define WB__MSG_HANDLE_FILE_LIMIT "the file has %llu bytes; the limit is %llu"

/* ---- derived_meta.c ---- */

#define WB__MSG_HANDLE_NO_META "the metadata index %llu is out of range"

/* ---- encoding_public.c ---- */

#define WB__MSG_HANDLE_NO_PART "the part index %lu is out of range"

/* ---- families_public.c ---- */

#define WB__MSG_HANDLE_FAMILIES_NULL                                                               \
    "wb_families_read requires tables, each with a path, and a place for the result"
#define WB__MSG_HANDLE_FAMILIES_COUNT "there are %llu family tables; the limit is %d"
#define WB__MSG_HANDLE_FAMILY_BYTES "the family table has %llu bytes; the limit is %d"
#define WB__MSG_HANDLE_FAMILY_CYCLE "the table inherits from itself through other tables"

/* ---- files_public.c ---- */

#define WB__MSG_HANDLE_PATH_NULL "the path must not be NULL"
#define WB__MSG_HANDLE_NO_FILE "the file index %llu is out of range"

/* ---- inflate_stream.c ---- */

#define WB__MSG_HANDLE_DEFLATE "the compressed data of the tensor is invalid"
#define WB__MSG_HANDLE_DEFLATE_SHORT                                                               \
    "the tensor's data decompresses to fewer bytes than its shape requires"
#define WB__MSG_HANDLE_DEFLATE_LONG                                                                \
    "the tensor's data decompresses to more bytes than its shape requires"
#define WB__MSG_HANDLE_DEFLATE_END "the compressed data of the tensor is truncated"
#define WB__MSG_HANDLE_DEFLATE_TRAILING "extra bytes follow the compressed data of the tensor"
#define WB__MSG_HANDLE_CHECKSUM "the checksum of the tensor does not match its data"

/* ---- layers_public.c ---- */

#define WB__MSG_HANDLE_NO_LAYER "the layer index %llu is out of range"

/* ---- meta_public.c ---- */

#define WB__MSG_HANDLE_NO_KEY "the metadata does not contain this key"
#define WB__MSG_HANDLE_META_ARRAY_TYPE                                                             \
    "the value is an array whose elements are %s; the caller requested %s"
#define WB__MSG_HANDLE_META_TYPE "the value is %s; the caller requested %s"
#define WB__MSG_HANDLE_META_RANGE "the integer does not fit into %s"
#define WB__MSG_HANDLE_META_INT "a signed integer"
#define WB__MSG_HANDLE_META_UINT "an unsigned integer"
#define WB__MSG_HANDLE_META_STRINGS "an array of strings"
#define WB__MSG_HANDLE_META_INTS "an array of integers"
#define WB__MSG_HANDLE_META_FLOATS "an array of floats"
#define WB__MSG_HANDLE_META_BOOLS "an array of booleans"
#define WB__MSG_HANDLE_META_ARRAYS "an array of arrays"
#define WB__MSG_HANDLE_META_ELEMENT "the element type is not a WB_META_* value"

/* ---- model_context.c ---- */

#define WB__MSG_HANDLE_NO_TENSOR "the tensor index %llu is out of range"

/* ---- names_public.c ---- */

#define WB__MSG_HANDLE_NO_NATIVE_NAME "the model contains no tensor with this native name"
#define WB__MSG_HANDLE_NOT_CANONICAL "the tensor has no canonical name"
#define WB__MSG_HANDLE_NO_CANONICAL_NAME "the model contains no tensor with this canonical name"
#define WB__MSG_HANDLE_NAMES_KIND "the kind of names is not a WB_NAMES_* value"

#endif
