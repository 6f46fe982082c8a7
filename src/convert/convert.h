/*
 * convert: converts a model to another file format in two steps, planning and running.
 *
 * A plan has one row per output tensor. The row contains the tensor's name, the source tensor, the
 * source rows and their order, the arithmetic applied to the values, and the encodings before and
 * after the conversion. Planning (wb__plan_make) reads only headers, sidecar files, adapters and
 * per-tensor scales, so a caller can show the plan before any data is converted. wb__plan_run
 * divides the tensors into tiles, which are ranges of rows. Threads of the caller's executor read,
 * transform, encode and write the tiles in parallel and in any order, within the memory limit.
 *
 * Module directories: plan/ (source tensors, names and encodings), recipe/ (quantization recipes
 * and encodings), exec/ (tiles, scheduling and error statistics), emit/ (metadata and sidecar
 * files), lora/ (adapters).
 *
 * The bytes of the output depend neither on the executor nor on the memory limit.
 */
#ifndef WB_CONVERT_CONVERT_H
#define WB_CONVERT_CONVERT_H

#include "convert/exec/readahead.h"
#include "convert/recipe/encoding.h"
#include "convert/recipe/llama_ftype.h"
#include "handle/semantics.h"
#include "weighbridge/convert.h"
#include "weighbridge/writer.h"

#define WB__NO_SOURCE UINT64_MAX

/* Permutation of the rows within each attention head of q and k weights. Hugging Face and GGUF
 * store these rows in different orders. */
typedef enum wb__row_permutation {
    WB__ROWS_UNCHANGED,
    /* from the order of Hugging Face to the order of GGUF, see arch/row_order.h */
    WB__ROWS_INTERLEAVE,
    WB__ROWS_SEPARATE /* from the order of GGUF to the order of Hugging Face */
} wb__row_permutation;

/*
 * Rows that an output tensor takes from a source tensor. The rows of the output are groups, and
 * each group has the rows of all parts, one part after another. The rows of the source are groups
 * too, but their number may differ. For example, NAME.attention.qkv of GGUF is one group with all
 * rows of q, of k and of v, whereas GPT-NeoX stores one group per head.
 */
typedef struct wb__row_part {
    uint64_t source;      /* index of the source tensor or of an expert view */
    uint64_t rows;        /* number of rows in each group of the output */
    uint64_t source_rows; /* number of rows in each group of the source */
    uint64_t first;       /* index of the first of these rows in a group of the source */
    uint64_t step;        /* number of all rows in a group of the source */
    bool is_permuted;     /* the permutation `row_order` applies to these rows */
} wb__row_part;

typedef enum wb__transposed {
    WB__TRANSPOSED_NO,
    WB__TRANSPOSED_SOURCE, /* the columns of the source are the rows of the output */
    WB__TRANSPOSED_OUTPUT  /* the rows of the source are the columns of the output */
} wb__transposed;

/* How an output tensor is composed of rows or columns that are not contiguous in its sources. If
 * `transposed` is not NO, the parts describe columns of the transposed tensor. */
typedef struct wb__row_gather {
    wb__row_part parts[WB__FUSED_PARTS_MAX];
    uint32_t count;
    uint64_t group_rows; /* sum of `rows` of the parts */
    wb__transposed transposed;
    uint64_t matrix_rows; /* number of rows of each matrix of the output */
} wb__row_gather;

/* Contiguous rows of a source tensor that are contiguous in the output too. */
typedef struct wb__row_run {
    uint64_t source;
    uint64_t first, rows;
    uint64_t step; /* number of all rows in a group of the source */
    bool is_permuted;
} wb__row_run;

typedef enum wb__route {
    WB__ROUTE_COPY,   /* copy the stored bytes unchanged */
    WB__ROUTE_REPACK, /* move the stored codes and scales into another block layout, without loss */
    WB__ROUTE_COMPUTE /* decode to binary32 and encode again */
} wb__route;

/* Error statistics of a tensor or of some of its values. `before` is a value before encoding,
 * `after` the value decoded from the output. All sums have binary64 precision. */
typedef struct wb__error_stats {
    double error;        /* sum of (after - before)² */
    double before;       /* sum of before² */
    double after;        /* sum of after² */
    double max_error;    /* maximum of |after - before| */
    uint64_t overflowed; /* number of values that encoding changes and that are infinite or NaN
                          * before or after it */
} wb__error_stats;

/* A row of the plan, which describes one output tensor. */
typedef struct wb__planned_tensor {
    wb__str name; /* name in the output; every string of a plan is also NUL-terminated */
    /* name in the source model; empty if the conversion generates the tensor */
    wb__str source_name;
    /* Index of the source tensor, or of an expert view (separately stored experts that are read as
     * one tensor). WB__NO_SOURCE: no source, the values are in `made`. */
    uint64_t source;
    /* Indices of source tensors whose rows are concatenated; NULL: `source` is the only source
     * tensor. */
    const uint32_t *pieces;
    uint64_t piece_count;  /* number of `pieces` */
    uint64_t piece_rows;   /* number of rows of each of the `pieces` */
    const float *made;     /* values of a generated tensor; NULL: the values come from the source */
    const uint64_t *shape; /* shape in elements, not in storage units of a packed encoding */
    uint32_t rank;
    /* First row that is read from the source tensor. A row contains the elements of the last
     * dimension. All other dimensions are combined into one row index. */
    uint64_t first_row;
    uint64_t rows;
    uint64_t columns;
    const wb__row_gather *gather; /* NULL: the rows are contiguous in the source */
    wb__row_permutation row_order;
    /* number of rows per attention head; `row_order` permutes the rows of each head */
    uint64_t head_rows;
    float offset; /* number added to every value */
    float factor; /* number by which every value is multiplied after `offset` is added */
    /* Factors for groups of `rows_a_factor` source rows. The values of a group are multiplied by
     * its factor before `offset` is added. NULL: no factors. */
    const float *factors;
    uint64_t rows_a_factor;     /* number of source rows with the same factor */
    wb__encoding_spec from, to; /* encodings of the tensor in the source and in the output */
    /* -1: `to` is the requested encoding. Otherwise `to` is a fallback, because the row length does
     * not fit the requested encoding, and `wanted` is the requested dtype. An MLX quantization is
     * no dtype: if one was requested, and `to` is a fallback, `wanted` is the value of to.dtype. */
    int32_t wanted;
    wb__route route;
    uint64_t bytes; /* size of the output tensor in bytes: the sum of `part_bytes` */
    uint64_t part_bytes[WB__PARTS]; /* size of each part (values, scales, biases), in bytes */
    /* Importance of the columns, which the encoder uses to choose scales. Each group of
     * `rows_an_importance` source rows has a list of `columns` values. NULL: no importance
     * matrix. */
    const float *importance;
    uint64_t rows_an_importance; /* number of source rows with the same importance values */
    /* linked list of the adapter matrices that are added to the values; NULL: no adapter */
    const struct wb__lora *lora;
    /* WB__GLOBAL_NONE: the values of this row are ordinary weights. Otherwise they are global
     * scales (each applies to all values of a packed tensor), and `global` says how the source uses
     * them, for example as factor or as divisor. */
    wb__global global;
    wb__global global_to; /* if `global` is not WB__GLOBAL_NONE: how the output uses the scales */
    /* this tensor stays packed, and another row of the plan contains its global scales */
    bool keeps_global;
    /* the tensor is read as decoded values, because its stored parts cannot be read directly */
    bool by_view;
    /* any part of a row can be read in a time that does not depend on the rest of the row */
    bool reads_part_rows;
    bool nearest;     /* round E8M0 scales to nearest, as Ollama does; see wb__mlx_e8m0 */
    bool known_exact; /* `to` represents every value of `from` exactly, so no error is measured */
    /* the source values are binary64, which can exceed the precision or range of binary32 */
    bool wide;
    /* Naming rule of the tensor; NULL: no rule matches. */
    const wb__rule *rule;
    uint32_t layer;    /* layer number in the tensor name, see `rule` */
    wb__suffix suffix; /* last part of the tensor name, for example "weight" */
    bool done;         /* a run has written the tensor, so `error_stats` is valid */
    wb__error_stats error_stats;
} wb__planned_tensor;

/* Returns true if the conversion changes the values of the tensor before they are encoded. */
static inline bool wb__planned_changes_values(const wb__planned_tensor *planned)
{
    return planned->offset != 0 || planned->factor != 1 || planned->factors != NULL ||
           planned->lora != NULL;
}

/* Returns true if the columns of the source tensor are the rows of the output tensor. */
static inline bool wb__planned_transposes(const wb__planned_tensor *planned)
{
    return planned->gather != NULL && planned->gather->transposed != WB__TRANSPOSED_NO;
}

/* Returns true if the values of a tile are moved after they are read, so that a second buffer is
 * necessary. */
static inline bool wb__planned_moves(const wb__planned_tensor *planned)
{
    return planned->row_order != WB__ROWS_UNCHANGED || wb__planned_transposes(planned);
}

struct wb_conversion {
    wb_allocator allocator;
    wb_executor executor;
    wb__arena arena;
    const wb_model *model;
    const wb__semantics *semantics;
    wb_target target;
    wb__quant quant;
    struct wb__overrides *rules;  /* encodings that the caller sets by tensor name; NULL: none */
    struct wb__imatrix *matrix;   /* importance matrix; NULL: the caller gave none */
    const wb_convert_lora *loras; /* the caller's list of adapters; valid only during planning */
    uint64_t lora_count;
    /* flags of the policy: WB_CONVERT_STRICT, _FORCE, _FEB2026, _RESUME, _FORCE_LOSSY and _RAW */
    bool strict, replace, feb2026, resume, lossy, raw;
    /* number of activation-scale tensors (input_scale) that the plan contains */
    uint64_t input_scales;
    /* Number of source tensors that are left out, because they belong not to the text model but to
     * another part of a multimodal model, and the name of the first one. */
    uint64_t other_parts;
    wb__str first_part;
    bool whole; /* the single GGUF file of the model is copied unchanged */
    const struct wb__rope_scaling *rope_scaling; /* RoPE scaling to write to GGUF; NULL: none */
    /* Path of the Ollama store, owned by this struct. NULL: the environment determines the
     * store. */
    char *store;
    uint64_t max_memory; /* memory limit of a run, in bytes */
    uint64_t max_shard;  /* maximum size of a shard, in bytes; 0: no limit */
    uint32_t file_type;  /* value of general.file_type in a GGUF output */
    /* most frequent dtype of unquantized matrices in the source; F16 if it has no such matrix */
    int32_t common;
    wb__list tensors;           /* list of wb__planned_tensor */
    wb__planned_tensor **order; /* the rows of `tensors` in output order */
    wb__list inputs; /* list of const char *: paths of input files, see plan/input_files.h */
    /* findings for the caller: data that the output cannot represent, and doubtful input */
    wb_findings notes;
    /* list of const char *: existing files that the output of the last wb__plan_run or
     * wb__plan_check replaces */
    wb__list replaced;
    size_t planned_notes; /* number of notes from planning; notes of a run follow them in `notes` */
};

static inline wb__planned_tensor *wb__planned_at(const wb_conversion *conversion, size_t i)
{
    return conversion->order[i];
}

/* Builds the plan of a conversion whose options are set and whose row list is empty. */
wb_status wb__plan_make(wb_conversion *conversion, wb__context *context);

/* Checks that the output can be written to `path`: declares the output to a writer, but writes
 * nothing. */
wb_status wb__plan_check(wb_conversion *conversion, wb__context *context, const char *path);

/* Runs the plan and writes the output. */
wb_status wb__plan_run(wb_conversion *conversion, wb__context *context, const char *path,
                       const wb_progress *progress);

/* Describes in *partial the files that an interrupted conversion to `path` has left. Removes these
 * files if `discards` is true (exec/partial_result.c). */
wb_status wb__partial_result(wb__context *context, wb_target target, const char *path,
                             const char *store, bool discards, wb_partial *partial);

/* Copies a string to the plan's arena. Returns a string with ptr NULL if out of memory. */
wb__str wb__plan_text(wb_conversion *conversion, wb__str text);

/* Adds a note to the findings of the conversion. `name` is a tensor or key, or empty for the
 * whole output. */
wb_status wb__plan_note(wb_conversion *conversion, wb__context *context, wb_severity severity,
                        wb__finding_id id, wb__str name, const char *message);

/* ---- plan/plan.c, plan/plan_rows.c ---- */

/* Initializes *row, a row of the plan that reads source tensor `number` completely. The caller sets
 * row->name and row->rule. */
wb_status wb__plan_row(wb_conversion *conversion, wb__context *context, uint64_t number,
                       wb__planned_tensor *row);

/* Sets rank, shape, rows and columns of *row to those of a tensor with properties *kind. */
void wb__plan_shape(wb__planned_tensor *row, const wb__kind *kind);

/* Returns what the recipes of llama.cpp must know about a tensor of this name. */
wb__recipe_tensor wb__plan_recipe_tensor(const wb__planned_tensor *row, wb__str name);

/* Sets the permutation of the rows of *row, which the row order of RoPE in the target requires. */
wb_status wb__plan_permutation(const wb_conversion *conversion, wb__context *context,
                               wb__planned_tensor *row);

/* Adds a copy of *row to the plan. Returns WB_ERROR_MEMORY if the name has ptr NULL. */
wb_status wb__plan_append(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *row);

/* Adds a row for a generated 1-D tensor of n values. The values must exist as long as the plan. */
wb_status wb__plan_add_made(wb_conversion *conversion, wb__context *context, const char *name,
                            const float *values, uint64_t n);

/* Returns the output name of a tensor that keeps its name `name` of the source. Only a last part
 * "qweight" or "weight_packed" of the name is replaced by "weight".
 * Returns a string with ptr NULL if out of memory. */
wb__str wb__plan_own_name(wb_conversion *conversion, wb__str name);

/* ---- plan/rope_scaling.c: writes the RoPE scaling of config.json to GGUF ---- */

/* Reads the RoPE scaling of config.json, adds the tensors that GGUF needs for it, and adds
 * warnings about settings that GGUF cannot represent. */
wb_status wb__plan_rope(wb_conversion *conversion, wb__context *context);

/* Returns the value of the GGUF key rope.scaling.type, or NULL if the key is not written. */
const char *wb__plan_rope_word(const wb_conversion *conversion);

/* Returns true if the GGUF key rope.scaling.REST is written from the corresponding value of
 * config.json. `rest` is the part REST of the key. */
bool wb__plan_rope_keeps(const wb_conversion *conversion, wb__str rest);

/* ---- emit/passthrough.c: copies the single file of a model unchanged ---- */

/* Returns true if the requested conversion copies the single file of the model unchanged. */
bool wb__passthrough_applies(const wb_conversion *conversion);
wb_status wb__passthrough_plan(wb_conversion *conversion, wb__context *context);

/* Copies the Ollama metadata of the source (template, system, license, parameters, messages) to
 * the writer of an Ollama model. */
wb_status wb__emit_store_texts(const wb_conversion *conversion, wb_writer *writer, wb_error *error);

/* Returns true if the output stores all experts of a layer in one tensor. `rule` is the naming
 * rule of the expert tensors. */
bool wb__plan_stacks(const wb_conversion *conversion, const wb__rule *rule);

/* ---- plan/ollama_tensors.c: tensors of a model directory in Ollama's layout ---- */

/* Adds a row for each tensor of the Ollama model. */
wb_status wb__plan_store(wb_conversion *conversion, wb__context *context);

/* ---- plan/ollama_types.c ---- */

/* Returns true if Ollama models support the packed encoding, so that the bytes of a tensor can
 * be copied. */
bool wb__plan_ollama_has(const wb__encoding_spec *spec);

/* Sets row->to to the encoding that Ollama would choose for the tensor. */
void wb__plan_ollama(const wb_conversion *conversion, wb__planned_tensor *row);

/* ---- plan/global_scales.c: scales that apply to all values of a packed tensor ---- */

/* Adds a row for the global scales of a packed tensor, converted to the target's convention, and
 * keeps the packed encoding of the tensor. Does nothing if the tensor has no global scales.
 * Precondition: the target supports global scales. */
wb_status wb__global_scales_add(wb_conversion *conversion, wb__context *context,
                                wb__planned_tensor *row);

/* If the target supports global scales for the tensor and the conversion does not change its
 * values, does the same as wb__global_scales_add, and for GGUF also adds a row for the activation
 * scales (input_scale). Otherwise does nothing. `view` is the expert view that the row reads; NULL:
 * no view. */
wb_status wb__global_scales_keep(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row, const wb__expert_view *view);

/* Folds a GGUF scale tensor (NAME.scale) into the weight NAME: sets row->factors to the scales, by
 * which the values of the weight are multiplied. Does nothing if the output keeps the scale tensor,
 * which is the case for GGUF targets unless the conversion merges an adapter. NVFP4 weights are
 * excluded (see handle/semantics.h). */
wb_status wb__scale_tensors_take(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row);

/* Returns true if tensor `number` is a scale (NAME.scale) that is folded into its weight. */
bool wb__scale_tensors_has(const wb_conversion *conversion, uint64_t number);

struct wb__tile;

/* Multiplies each row of the tile by the factor of its row (planned->factors). */
void wb__scale_tensors_multiply(const struct wb__tile *tile);

/* Converts the values of the tile, which are global scales, to the target's convention. */
void wb__global_scales_convert(struct wb__tile *tile);

/* Returns true if GGUF files store the rows of tensors with this naming rule in interleaved order
 * (arch/row_order.h). Sets *heads to the number of attention heads, or to 0 if the config does not
 * contain it. */
bool wb__plan_interleaves(const wb_conversion *conversion, const wb__rule *rule, uint64_t *heads);

/* ---- plan/row_gather.c: fused, grouped and transposed tensors ---- */

/*
 * Adds the rows for a source tensor that the target stores in another way: divided into its parts,
 * fused with other tensors, with other groups of rows, or transposed. *row is the complete source
 * tensor, and `matched` the rule that its name matches. Sets *done to false, and adds nothing, if
 * the target stores the tensor in the same way.
 */
wb_status wb__plan_gather(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *row, const wb__matched *matched, bool *done);

/* Returns the run that begins with row `row` of the output tensor, or with this column of the
 * output if the output is transposed. */
wb__row_run wb__gather_at(const wb__row_gather *gather, uint64_t row);

/* ---- plan/encodings.c ---- */
/* Returns an unquantized floating-point dtype that every target supports, for values of encoding
 * *from. */
wb__encoding_spec wb__plan_plain(const wb_conversion *conversion, const wb__encoding_spec *from);

/* Returns true if the encoding is not floating-point, for example integers. Such values are not
 * weights. */
bool wb__plan_is_other(const wb__encoding_spec *spec);

/* Returns true for a tensor that a GGUF source stores as F32 only because GGUF requires F32, for
 * example a norm or a router. Other formats store such a tensor in the dtype of the weights. */
bool wb__plan_is_widened(const wb_conversion *conversion, const wb__planned_tensor *row);

/* Returns the encoding that the caller's rules give the tensor, or NULL if no rule matches. */
const wb__encoding_spec *wb__plan_ruled(const wb_conversion *conversion,
                                        const wb__planned_tensor *row);

/* Chooses the encoding and the route of each row. Precondition: the rows are in output order. */
wb_status wb__plan_forms(wb_conversion *conversion, wb__context *context);

/* Returns the encoding of source tensor `source`. Sets *by_view to true if the tensor must be read
 * as decoded values, because its stored parts cannot be read directly. Sets *global to the way in
 * which the tensor's global scales are used, or to WB__GLOBAL_NONE if it has none. */
wb__encoding_spec wb__plan_form_of(const wb_conversion *conversion, uint64_t source, bool *by_view,
                                   wb__global *global);

/* ---- plan/family_limits.c ---- */

/* Refuses values of the config that the target cannot express, or adds a warning. */
wb_status wb__plan_limits(wb_conversion *conversion, wb__context *context);

/* ---- plan/unknown_architecture.c ---- */

/* Returns true if tensors are copied under their own names (WB_CONVERT_RAW), because the
 * architecture is unknown. */
bool wb__plan_is_raw(const wb_conversion *conversion);

/* Refuses to convert a model of an unknown architecture to another format, or warns. */
wb_status wb__plan_architecture(wb_conversion *conversion, wb__context *context);

/* ---- plan/adapter_input.c ---- */

/* Fails if the input consists of the tensors of a LoRA adapter, and the output would be a model. */
wb_status wb__plan_refuse_adapter(const wb_conversion *conversion, wb__context *context);

/* ---- plan/other_parts.c ---- */

/* Returns true if tensor i does not belong to the text model, but to another part of a multimodal
 * model, for example the vision encoder. Counts these tensors. wb__plan_note_parts reports their
 * number. */
bool wb__plan_other_part(wb_conversion *conversion, uint64_t i);
wb_status wb__plan_note_parts(wb_conversion *conversion, wb__context *context);

/* ---- plan/tied_output.c ---- */

/* Reports that the output omits tensor i, an output matrix beside the embedding that it is tied to.
 * Compares the values of both. If they differ, the report is a warning. */
wb_status wb__plan_omit_output(wb_conversion *conversion, wb__context *context, uint64_t i,
                               wb__str name);

/* ---- plan/target_names.c ---- */

/* Returns the format, a WB__SIDE_* flag, that determines the tensor names of the output and the
 * arithmetic applied to the values. */
uint8_t wb__plan_side(const wb_conversion *conversion);

/* Returns the output name of a tensor with this rule, layer and suffix. `expert` is used only if
 * the output stores each expert separately. Returns a string with ptr NULL if out of memory, and an
 * empty string if the format does not have the tensor. */
wb__str wb__plan_name(wb_conversion *conversion, const wb__rule *rule, uint32_t layer,
                      uint32_t expert, wb__suffix suffix);

/* ---- exec/tensor_tile.c: reads, transforms and encodes rows of a tensor ---- */

/* Maximum number of elements per tile. A tile that consists of a row which cannot be split, or of
 * an attention head, may be larger. The buffers of a tile of this size fit into the L1 and L2
 * caches of a CPU core. The number is a multiple of the size of every block and group. */
#define WB__TILE_ELEMENTS ((uint64_t)1 << 16)

/* The elements of a tile: either complete rows of a tensor, or a part of one row. */
typedef struct wb__tile_range {
    uint64_t first, rows;     /* first row in the output tensor, and number of rows */
    uint64_t column, columns; /* first column, and number of columns */
} wb__tile_range;

/* Returns the first tile of a tensor. It is the largest tile of the tensor. It has no rows if the
 * tensor has no elements. */
wb__tile_range wb__tile_begin(const wb__planned_tensor *planned);

/* Replaces a tile by the next tile of the tensor, in the order of the elements. After the last
 * tile, sets range->rows to 0. */
void wb__tile_next(const wb__planned_tensor *planned, wb__tile_range *range);

/* Sets `before` to the number of bytes before the tile in each part of a tensor. `encoding` is the
 * encoding of the tensor. */
void wb__tile_before(const wb__planned_tensor *planned, const wb__encoding_spec *encoding,
                     const wb__tile_range *range, uint64_t before[WB__PARTS]);

/* Sizes of the buffers for one tile, in bytes. */
typedef struct wb__tile_sizes {
    uint64_t raw;    /* stored bytes, or binary64 values */
    uint64_t values; /* binary32 values */
    uint64_t again;  /* binary32 values decoded from the output, for the error statistics */
    uint64_t parts[WB__PARTS]; /* encoded parts of the output */
} wb__tile_sizes;

void wb__tile_measure(const wb__planned_tensor *planned, const wb__tile_range *range,
                      wb__tile_sizes *sizes);

typedef struct wb__tile {
    const wb__planned_tensor *planned;
    wb__readahead *ahead; /* provides the input; NULL: the tile reads its input itself */
    wb__tile_range range;
    uint8_t *raw;              /* buffer for stored bytes or binary64 values */
    float *values;             /* buffer for the binary32 values before encoding */
    float *again;              /* values decoded from the output */
    uint8_t *parts[WB__PARTS]; /* buffers for the encoded parts */
    /* number of bytes that the tile has in each part of the output */
    uint64_t part_bytes[WB__PARTS];
    wb__error_stats error_stats; /* error statistics of this tile, set by wb__tile_run */
} wb__tile;

/* Permutes rows from `src` to `dst`. Each row has `bytes` bytes. `rows` is a multiple of
 * `head_rows`, the number of rows per attention head. */
void wb__rows_reorder(wb__row_permutation row_order, uint64_t head_rows, uint8_t *dst,
                      const uint8_t *src, uint64_t rows, size_t bytes);

/* Sets *place to the file range from which the tile reads most of its data. Returns false if
 * read-ahead cannot be used for the tile. */
bool wb__tile_place(const wb_conversion *conversion, const wb__planned_tensor *planned,
                    const wb__tile_range *range, wb__byte_range *place);

wb_status wb__tile_run(const wb_conversion *conversion, wb__context *context, wb__tile *tile);

/* ---- exec/tile_source.c: reads the source of a tile ---- */

/* Reads the stored bytes of the rows of a tile in output row order. Sets in[] to the data of each
 * part (values, scales, biases). */
wb_status wb__tile_read_parts(const wb_conversion *conversion, wb__context *context,
                              const wb__tile *tile, uint8_t *in[WB__PARTS]);

/* Reads the values of a tile in output row order, converted to `dtype`; -1 is the dtype of the
 * source. `dst` has space for the tile. If wb__planned_moves, `scratch` has as much space. */
wb_status wb__tile_read_values(const wb_conversion *conversion, wb__context *context,
                               const wb__tile *tile, int32_t dtype, void *dst, void *scratch,
                               uint64_t bytes);

/* ---- exec/error_stats.c ---- */

void wb__error_stats_measure(wb__error_stats *error_stats, const float *before, double offset,
                             const float *after, size_t n);
/* Like wb__error_stats_measure, but `before` has little-endian binary64 values, and the
 * reference value is (before + offset) * factor. */
void wb__error_stats_measure_wide(wb__error_stats *error_stats, const uint8_t *before,
                                  double offset, double factor, const float *after, size_t n);
/* Adds the error of one value. Precondition: both numbers are finite. */
void wb__error_stats_add_one(wb__error_stats *error_stats, double before, double after);
void wb__error_stats_add(wb__error_stats *sum, const wb__error_stats *part);

/* Returns the encoding whose elements are unpacked values of the dtype. */
wb__encoding_spec wb__encoding_spec_plain(int32_t dtype);

/* Returns true if the elements are unpacked values of a floating-point dtype. */
bool wb__encoding_spec_is_float(const wb__encoding_spec *spec);

/* Returns true if the dtype is F32, F16 or BF16. */
bool wb__encoding_spec_is_half_or_single(int32_t dtype);

/* Sets row->from, `wide` and `by_view` according to the encoding of the source tensor. For an
 * expert view whose experts have the same encoding, also sets the `pieces`. */
void wb__plan_take_source_encoding(const wb_conversion *conversion, wb__planned_tensor *row);

#endif
