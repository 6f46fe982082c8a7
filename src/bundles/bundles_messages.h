/*
 * bundles/bundles_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_BUNDLES_BUNDLES_MESSAGES_H
#define WB_BUNDLES_BUNDLES_MESSAGES_H

/* ---- bundle.c ---- */

#define WB__MSG_BUNDLE_TOO_MANY_FILES "the model has more than %llu files"

/* ---- model_directory.c ---- */

#define WB__MSG_BUNDLE_STRAY_FILE "%s is in the folder but is not part of the model"
#define WB__MSG_BUNDLE_FILES_MISSING "%zu of the model's files %s missing; the first one is %s"
#define WB__MSG_BUNDLE_STALE_INDEX                                                                 \
    "%s lists files that do not exist; model.safetensors is used instead"
#define WB__MSG_BUNDLE_NO_INDEX "the model has %lu shards but no index file"
#define WB__MSG_BUNDLE_AMBIGUOUS_FILES                                                             \
    "the folder contains %zu weights files that do not form one model, for example %s "            \
    "and %s"
#define WB__MSG_BUNDLE_AMBIGUOUS_FORMAT                                                            \
    "the folder contains %zu files that could each be the weights, for example %s"
#define WB__MSG_BUNDLE_OTHER_FORMAT                                                                \
    "the folder contains no .safetensors or .gguf file; it has %s, which is not supported"
#define WB__MSG_BUNDLE_NO_WEIGHTS "the folder contains no .safetensors or .gguf file"

/* ---- ollama/ollama_list.c ---- */

#define WB__MSG_OLLAMA_MANIFEST_SIZE "the manifest is larger than 16 MiB"
#define WB__MSG_OLLAMA_NOT_MANIFEST "the file is not an Ollama manifest"

/* ---- ollama/ollama_manifest.c ---- */

#define WB__MSG_OLLAMA_JSON_TEXT "this is JSON text, not a file of weights"
#define WB__MSG_OLLAMA_BAD_MANIFEST "the manifest is invalid: %s"
#define WB__MSG_OLLAMA_LAYER_OBJECT "a layer is not a JSON object"
#define WB__MSG_OLLAMA_NO_DIGEST "a layer has no digest"
#define WB__MSG_OLLAMA_BAD_DIGEST "a digest must be sha256, a colon and 64 hexadecimal digits"
#define WB__MSG_OLLAMA_NO_SIZE "a layer has no size"
#define WB__MSG_OLLAMA_TOO_MANY_LAYERS "too many layers"
#define WB__MSG_OLLAMA_NO_LAYERS "the array \"layers\" is missing"

/* ---- ollama/ollama_name.c ---- */

#define WB__MSG_OLLAMA_NO_STORE                                                                    \
    "the path of the Ollama store is unknown, because neither OLLAMA_MODELS nor HOME is set"
#define WB__MSG_OLLAMA_BAD_NAME "this is not a valid model name"
#define WB__MSG_OLLAMA_NO_MODEL "the store has no model with this name"

/* ---- ollama/store_public.c ---- */

#define WB__MSG_OLLAMA_CANCELLED "stopped on request"
#define WB__MSG_OLLAMA_EACH_NULL "`each` is NULL"

/* ---- shard_index.c ---- */

#define WB__MSG_INDEX_MAP_OBJECT "weight_map is not an object"
#define WB__MSG_INDEX_MAP_STRING "weight_map has a value that is not a string"
#define WB__MSG_INDEX_OBJECT "the index is not a JSON object"
#define WB__MSG_INDEX_MAP_TWICE "the index has weight_map twice"
#define WB__MSG_INDEX_NO_MAP "the index has no weight_map"
#define WB__MSG_INDEX_BAD_FILE_NAME "\"%s\" is not the name of a file in the folder of the index"
#define WB__MSG_INDEX_IS_FOLDER "the index is a folder, not a file"
#define WB__MSG_INDEX_TOO_LARGE "the index has %llu bytes; the limit is %llu"
#define WB__MSG_INDEX_WRONG_FILES                                                                  \
    "%llu tensors are not in the file that the index lists for them (%llu of these are "           \
    "in no file); this is the first"
#define WB__MSG_INDEX_INCOMPLETE "the index does not list %llu of the %llu tensors in the files"
#define WB__MSG_INDEX_TOTAL "total_size is %llu, but the tensors have %llu bytes"

/* ---- splits.c ---- */

#define WB__MSG_SPLIT_PARTS_MISSING                                                                \
    "this model has %lu parts, %llu of which %s missing from the folder; the first one "           \
    "is %s"
#define WB__MSG_SPLIT_AMBIGUOUS                                                                    \
    "the folder contains %zu GGUF files that do not form one model, for example %s and %s"
#define WB__MSG_SPLIT_WRONG_COUNT                                                                  \
    "the value of this key is %llu, but the model has %llu parts (split.no counts them from 0)"
#define WB__MSG_SPLIT_WRONG_TENSOR_COUNT                                                           \
    "the value of this key is %llu, but the parts of the model have %llu tensors"
#define WB__MSG_SPLIT_WRONG_NUMBER                                                                 \
    "the value of this key is %llu, but the file name gives the number %llu (counted from 0)"
#define WB__MSG_SPLIT_LONE_PART "this is part %llu of %llu; the other parts were not opened"
#define WB__MSG_SPLIT_NO_KEYS                                                                      \
    "the file is named like a part of a split model, but does not contain the keys split.no and "  \
    "split.count"
#endif
