/*
 * convert/convert_messages.h: texts of all errors and warnings of src/convert, grouped by source
 * file.
 */
#ifndef WB_CONVERT_CONVERT_MESSAGES_H
#define WB_CONVERT_CONVERT_MESSAGES_H

/* ---- convert_public.c ---- */

#define WB__MSG_CONVERT_POLICY_FLAGS "wb_convert_policy.flags contains unknown flags"
#define WB__MSG_CONVERT_QUANTIZATION_UNKNOWN "unknown quantization \"%.64s\""
#define WB__MSG_CONVERT_ADAPTER_PATH "wb_convert_adapter.path must not be NULL or empty"
#define WB__MSG_CONVERT_ADAPTER_SCALE "the scale of the adapter is not a finite F32 number"
#define WB__MSG_CONVERT_TARGET "the target is not a WB_TARGET_* value"
#define WB__MSG_CONVERT_NO_TENSOR "the result has no tensor with index %llu"

/* ---- emit/config_json_out.c ---- */

#define WB__MSG_CONVERT_CONFIG_JSON_INVALID "config.json is not valid JSON"

/* ---- emit/config_json_rope.c ---- */

#define WB__MSG_CONVERT_ROPE_DIVISORS                                                              \
    "config.json cannot represent the RoPE frequency factors of this model, so they are left "     \
    "out, and the results for long texts will differ"
#define WB__MSG_CONVERT_ROPE_TYPE                                                                  \
    "config.json cannot represent this RoPE scaling (rope.scaling.type) for this architecture, "   \
    "so it is left out, and the results for texts longer than the training context will be wrong"

/* ---- emit/sidecars_out.c ---- */

#define WB__MSG_CONVERT_GENERATED_SIZE                                                             \
    "the generated %s would have more than %u MiB, which is the limit for such a file"
#define WB__MSG_CONVERT_FOLDER_LIST                                                                \
    "the folder of the weights cannot be listed, so only sidecar files with known names are "      \
    "copied"
#define WB__MSG_CONVERT_SUBFOLDER                                                                  \
    "files in subfolders of the model are not copied: copy this file yourself if you need it"
#define WB__MSG_CONVERT_NO_LAYER                                                                   \
    "an Ollama model cannot contain this file, so the file is not copied: keep it if you need "    \
    "it"

/* ---- emit/tokenizer_json_out.c ---- */

#define WB__MSG_CONVERT_MERGES_DROPPED                                                             \
    "tokenizer.json omits merges whose parts or result are not tokens of the vocabulary"
#define WB__MSG_CONVERT_PRETOKENIZER                                                               \
    "the pre-tokenizer name (tokenizer.ggml.pre) is unknown, so tokenizer.json contains the "      \
    "pre-tokenizer of GPT-2: use the tokenizer.json of the original model instead"
#define WB__MSG_CONVERT_MERGES_SIZE                                                                \
    "tokenizer.json was not written, because its merges would be many times larger than the "      \
    "vocabulary; copy the tokenizer.json of the original model"
#define WB__MSG_CONVERT_TOKENIZER_KIND                                                             \
    "tokenizer.json cannot be generated for this kind of tokenizer; copy the tokenizer.json "      \
    "of the original model"

/* ---- exec/checkpoint.c ---- */

#define WB__MSG_CONVERT_WRITE "cannot write the file"
#define WB__MSG_CONVERT_OUTPUT_BUSY "another conversion is writing to this path"
#define WB__MSG_CONVERT_OUTPUT_FOLDER "cannot write to the folder of the output"

/* ---- plan/adapter_input.c ---- */

#define WB__MSG_CONVERT_ADAPTER_ALONE "this is a LoRA adapter, which is not a model by itself"

/* ---- exec/partial_result.c ---- */

#define WB__MSG_CONVERT_JOURNAL_LOCK                                                               \
    "cannot lock the journal of the partial output, so a conversion to it may be running"
#define WB__MSG_CONVERT_DISCARD "cannot remove a file or folder of the partial output"

/* ---- exec/run.c ---- */

#define WB__MSG_CONVERT_RESUMED "the output of an interrupted run was verified and reused"
#define WB__MSG_CONVERT_STREAM                                                                     \
    "conversions write tensors out of order and therefore cannot write to a pipe or device: "      \
    "write to a file"

/* ---- exec/scheduler.c ---- */

#define WB__MSG_CONVERT_MEMORY_LIMIT                                                               \
    "the largest tensor needs more memory than the memory limit allows, so this conversion "       \
    "exceeds the limit"
#define WB__MSG_CONVERT_CANCELLED "the conversion was cancelled"

/* ---- lora/lora.c ---- */

#define WB__MSG_CONVERT_LORA_KIND                                                                  \
    "the adapter is not plain LoRA (see peft_type and use_dora in adapter_config.json)"
#define WB__MSG_CONVERT_LORA_ALORA                                                                 \
    "the adapter applies only after certain tokens (alora_invocation_tokens in "                   \
    "adapter_config.json) and cannot be merged"
#define WB__MSG_CONVERT_LORA_GGUF "the GGUF file is not an adapter: adapter.lora.alpha is missing"
#define WB__MSG_CONVERT_LORA_CONFIG_MISSING                                                        \
    "adapter_config.json, which contains the scale, is missing from the folder of the adapter"
#define WB__MSG_CONVERT_LORA_FINE_TUNE                                                             \
    "the adapter is not LoRA (see fine_tune_type in adapter_config.json)"
#define WB__MSG_CONVERT_LORA_CONFIG                                                                \
    "adapter_config.json is not valid JSON, or contains no rank or scale"
#define WB__MSG_CONVERT_LORA_HALF                                                                  \
    "the adapter contains only one of the matrices A and B of this pair"
#define WB__MSG_CONVERT_LORA_SHAPE                                                                 \
    "the shape of the adapter matrix does not match the weight of the model"
#define WB__MSG_CONVERT_LORA_LAYOUT                                                                \
    "the adapter and the target store this weight in different layouts; merge the adapter with "   \
    "transformers first"
#define WB__MSG_CONVERT_LORA_HEADS                                                                 \
    "the rows of this weight cannot be divided into heads of equal size"
#define WB__MSG_CONVERT_LORA_SCALE                                                                 \
    "the scale of a pair of adapter matrices is not a finite F32 number"
#define WB__MSG_CONVERT_LORA_TWICE                                                                 \
    "the adapter contains several pairs of matrices, with different names, for this weight"
#define WB__MSG_CONVERT_LORA_EXPERTS                                                               \
    "the number or the shape of the experts in the adapter differs from the model"
#define WB__MSG_CONVERT_LORA_NO_WEIGHT                                                             \
    "the model does not contain the weight that this pair of adapter matrices changes"
#define WB__MSG_CONVERT_LORA_RANK                                                                  \
    "the adapter tensor is neither a matrix nor a stack with one matrix per expert"
#define WB__MSG_CONVERT_LORA_OTHER                                                                 \
    "this tensor is not one of a pair of LoRA matrices A and B; adapters with other tensors "      \
    "cannot be merged"
#define WB__MSG_CONVERT_LORA_EMPTY "the file is not an adapter: it contains no pairs of matrices"

/* ---- lora/lora_alphas.c ---- */

#define WB__MSG_CONVERT_ALPHA_PATTERN "alpha_pattern in adapter_config.json %s"
#define WB__MSG_CONVERT_ALPHA_OBJECT "is not an object"
#define WB__MSG_CONVERT_ALPHA_NUMBER "contains a value that is not a number"
#define WB__MSG_CONVERT_ALPHA_REGEX "contains a regular expression; list the module names instead"

/* ---- plan/encodings.c ---- */

#define WB__MSG_CONVERT_TYPE_NEEDS_IMATRIX_LLAMA                                                   \
    "llama.cpp requires an importance matrix for this type, but no importance matrix contains "    \
    "this tensor"
#define WB__MSG_CONVERT_TYPE_WITHOUT_IMATRIX                                                       \
    "without an importance matrix, this type has a large quantization error"
#define WB__MSG_CONVERT_NO_BLOCK_FITS                                                              \
    "the row length, %llu values, is not a multiple of the block size of the requested type or "   \
    "of its fallback types"
#define WB__MSG_CONVERT_NPZ_PLAIN "a .npz file cannot contain quantized tensors"
#define WB__MSG_CONVERT_ROW_BLOCKS                                                                 \
    "the row length, %llu values, is not a multiple of the block size of %s, and --strict "        \
    "(WB_CONVERT_STRICT) allows no other type"
#define WB__MSG_CONVERT_NOT_FLOAT "only floating-point tensors can be converted to another type"
#define WB__MSG_CONVERT_NO_ENCODER "weighbridge has no encoder for this type"
#define WB__MSG_CONVERT_TYPE_NEEDS_IMATRIX                                                         \
    "this type requires an importance matrix that contains this tensor"
#define WB__MSG_CONVERT_ROWS_PACKED "rows of this tensor cannot be read separately"
#define WB__MSG_CONVERT_ROW_NOT_BLOCKS "the row length is not a multiple of the block size"
#define WB__MSG_CONVERT_TARGET_QUANTIZATION "%s does not support this quantization"
#define WB__MSG_CONVERT_RULE_UNUSED "this rule matches no tensor"
#define WB__MSG_CONVERT_IMATRIX_UNUSED                                                             \
    "the importance matrix contains none of the tensors of the result"

/* ---- plan/input_files.c ---- */

#define WB__MSG_CONVERT_OUTPUT_IS_INPUT                                                            \
    "the output would replace an input file: choose another output path"

/* ---- plan/ollama_tensors.c ---- */

#define WB__MSG_CONVERT_EXPERTS_OLLAMA                                                             \
    "the experts of this layer cannot form one tensor: some are missing, or they differ in shape " \
    "or dtype"

/* ---- plan/plan.c ---- */

#define WB__MSG_CONVERT_HEAD_ROWS                                                                  \
    "the %llu rows cannot be divided into %llu heads with an even number of rows each"
#define WB__MSG_CONVERT_PARTS_SIZE                                                                 \
    "this tensor consists of other tensors, whose sizes by the config do not add up to its %llu "  \
    "rows"
#define WB__MSG_CONVERT_PARTS_GROUPS                                                               \
    "the rows of this tensor, or of a part of it, cannot be divided into %llu equal groups"
#define WB__MSG_CONVERT_PARTS_HEADS                                                                \
    "the rows of a part of this tensor cannot be divided into heads of %llu rows"
#define WB__MSG_CONVERT_PARTS_TRANSPOSED                                                           \
    "by the config, this transposed tensor has %llu rows; it may be stored without transposition"
#define WB__MSG_CONVERT_PARTS_MISSING                                                              \
    "the target stores this tensor in one tensor with %s, which is missing or has another width"
#define WB__MSG_CONVERT_PARTS_SCALE                                                                \
    "this tensor has a separate scale, and the target stores it in another layout; this is not "   \
    "supported"
#define WB__MSG_CONVERT_PARTS_CHAIN                                                                \
    "the layouts in which the source and the target store this tensor cannot be converted into "   \
    "each other"
#define WB__MSG_CONVERT_EXPERTS_MANY "the model has too many experts: %llu"
#define WB__MSG_CONVERT_EXPERTS_STACK                                                              \
    "the experts of this layer cannot be stacked: some are missing, or they differ in shape or "   \
    "dtype"
#define WB__MSG_CONVERT_TENSOR_UNKNOWN                                                             \
    "the architecture %s defines no name for this tensor in the target format, so programs "       \
    "would not load the result"
#define WB__MSG_CONVERT_TENSOR_DROPPED                                                             \
    "the target format does not use this tensor, so it is left out"
#define WB__MSG_CONVERT_TIED_SAME                                                                  \
    "this tensor has the values of the embedding, so the result stores only the embedding"
#define WB__MSG_CONVERT_TIED_OTHER                                                                 \
    "this model uses the embedding as its output matrix (tie_word_embeddings), but this tensor "   \
    "has other values; it is left out. To keep it, set tie_word_embeddings to false in "           \
    "config.json"
#define WB__MSG_CONVERT_REFUSED "%s; to convert the model in spite of this, use --force-lossy"
#define WB__MSG_CONVERT_IMPLIED_WORD                                                               \
    "GGUF has no key for this setting, and llama.cpp always uses %.*s, which differs from "        \
    "config.json"
#define WB__MSG_CONVERT_IMPLIED_NUMBER                                                             \
    "GGUF has no key for this setting, and llama.cpp always uses %g, which differs from "          \
    "config.json"
#define WB__MSG_CONVERT_OTHER_PARTS                                                                \
    "this is the first of %llu tensors of other parts of the model, such as a vision encoder, "    \
    "which are left out: the GGUF file contains the text model"
#define WB__MSG_CONVERT_ACTIVATION_SCALES                                                          \
    "%llu activation scales are left out, because the target format cannot store them with "       \
    "weights of this type"
#define WB__MSG_CONVERT_NAME_TWICE "two tensors of the model would have this name in the result"
#define WB__MSG_CONVERT_TOKENIZER_SIZE                                                             \
    "the tokenizer has %llu tokens, but the embedding has %llu rows, so llama.cpp would not load " \
    "the file"
#define WB__MSG_CONVERT_NO_TOKENIZER                                                               \
    "the model has no readable tokenizer, but programs need a tokenizer to run the model"
#define WB__MSG_CONVERT_ARCHITECTURE                                                               \
    "the architecture is unknown, so tensors and metadata are copied unchanged, and programs for " \
    "the target format will probably not load the result"
#define WB__MSG_CONVERT_ARCHITECTURE_NONE                                                          \
    "the files name no architecture, so only tensors with common names get the names of the "      \
    "target format, and programs for it will probably not load the result"
#define WB__MSG_CONVERT_RAW                                                                        \
    "the architecture is unknown, so the tensors are copied under their own names, and "           \
    "config and tokenizer are not translated; programs for the target format will probably not "   \
    "load the result"
#define WB__MSG_CONVERT_ARCHITECTURE_ALONE                                                         \
    "the architecture \"%.64s\" is unknown, and no known family has any of its tensor names. A "   \
    "family table with these names begins with \"family %.64s : decoder\", and \"%s %.64s\""
#define WB__MSG_CONVERT_ARCHITECTURE_NEAREST                                                       \
    "the architecture \"%.64s\" is unknown; the most similar family is %s, which has %llu of the " \
    "%llu tensor names. A family table of two lines uses the names and rules of this family: "     \
    "\"family %.64s : %s\", and \"%s %.64s\""
#define WB__MSG_CONVERT_NPZ_METADATA                                                               \
    "a .npz file cannot contain metadata, config or tokenizer, so they are left out"

/* ---- plan/rope_scaling.c ---- */

#define WB__MSG_CONVERT_ROPE_LONG_TEXTS                                                            \
    "the results for texts longer than the training context will be wrong"
#define WB__MSG_CONVERT_ROPE_ATTENTION                                                             \
    "config.json specifies an attention factor (attention_factor, or mscale and mscale_all_dim) "  \
    "that GGUF cannot represent; llama.cpp uses 0.1 ln(factor) + 1 instead, so its results will "  \
    "differ"
#define WB__MSG_CONVERT_ROPE_SLIDING                                                               \
    "config.json scales RoPE in sliding-window layers (sliding_attention), which GGUF cannot "     \
    "represent, so the results of these layers will be wrong"
#define WB__MSG_CONVERT_ROPE_FACTORS                                                               \
    "long_factor or short_factor in config.json is not a list of %llu positive numbers (one per "  \
    "RoPE frequency), so the GGUF output has no RoPE scaling, and "
#define WB__MSG_CONVERT_ROPE_GGUF "GGUF cannot represent this RoPE scaling, so "

/* ---- recipe/imatrix.c ---- */

#define WB__MSG_CONVERT_IMATRIX_COLUMNS                                                            \
    "the importance matrix has %llu values for this tensor, which has %llu columns"
#define WB__MSG_CONVERT_IMATRIX "the file is not a valid importance matrix: %s"
#define WB__MSG_CONVERT_IMATRIX_NAME_END "a name extends past the end of the file"
#define WB__MSG_CONVERT_IMATRIX_NAME_LONG "a tensor name is too long"
#define WB__MSG_CONVERT_IMATRIX_ENTRY_END "an entry extends past the end of the file"
#define WB__MSG_CONVERT_IMATRIX_NEGATIVE "an importance value is negative, infinite or NaN"
#define WB__MSG_CONVERT_IMATRIX_SIZE "the importance matrix has %llu bytes; the limit is %llu"
#define WB__MSG_CONVERT_IMATRIX_EMPTY "the file has no entries"
#define WB__MSG_CONVERT_IMATRIX_COUNTS "a tensor NAME.in_sum2 has no matching tensor NAME.counts"
#define WB__MSG_CONVERT_IMATRIX_VALUES                                                             \
    "an entry has no values, more than 65536 experts, or a name of more than 200 bytes"
#define WB__MSG_CONVERT_IMATRIX_SUMS "no tensor has a name that ends with .in_sum2"
#define WB__MSG_CONVERT_NO_FILE "the file does not exist"
#define WB__MSG_CONVERT_IS_FOLDER "the path is a folder; a file is required"

/* ---- recipe/overrides.c ---- */

#define WB__MSG_CONVERT_RULE_EMPTY "a rule must have a pattern and a type"
#define WB__MSG_CONVERT_RULE_TYPE "unknown tensor type \"%.64s\""
#define WB__MSG_CONVERT_RULE_PATTERN "the pattern \"%.128s\" is not a valid regular expression: %s"
#define WB__MSG_CONVERT_RULES_MANY "more than %d rules"

#endif
