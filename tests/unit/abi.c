/*
 * Tests public structs of programs that were compiled with another version of the header. Passes
 * every struct of core/abi.def in all sizes, from the smallest that is accepted to 64 bytes more
 * than the current size. Each struct ends at an inaccessible page, and the bytes in front of it
 * must not change.
 */
#include "writing.h"

#include <math.h>
#include <sys/mman.h>

#include "core/abi.h"
#include "weighbridge/net.h"

#define GROWN 64 /* bytes by which a later version of a struct is larger */
#define CANARY 64
#define CANARY_BYTE 0xC7
#define OLD_BYTE 0xA5 /* fill byte of an output before the call */

/* ---- memory that ends at an inaccessible page ---- */

static unsigned char *page_end;

static void make_guard(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    page_end = memory + 2 * page;
    assert_int_equal(mprotect(page_end, page, PROT_NONE), 0);
}

/* Returns memory for a struct of `size` bytes: its member `size` is set, the rest is OLD_BYTE. */
static void *place(size_t size)
{
    unsigned char *at = page_end - size;
    memset(at - CANARY, CANARY_BYTE, CANARY);
    memset(at, OLD_BYTE, size);
    memcpy(at, &size, sizeof size < size ? sizeof size : size);
    return at;
}

static void check_canary(const void *placed)
{
    for (const unsigned char *b = (const unsigned char *)placed - CANARY;
         b < (const unsigned char *)placed; b++)
        assert_int_equal(*b, CANARY_BYTE);
}

/* ---- objects that the calls use ---- */

static struct fixture {
    char *folder, *a_path, *b_path, *store;
    wb_model *a, *b;
    wb_provider *provider;
    wb_model *named; /* a model with canonical names */
    wb_provider *named_provider;
    wb_weights *weights;
    wb_plan *plan;
    wb_hashes *hashes;
    wb_diff *diff;
    wb_findings *findings;
    wb_conversion *conversion;
    wb_writer *writer;
    wb_net *net;
    wb_pull *pull;
    wb_push *push;
    char *pushed; /* path of the file of `push` */
    uint32_t values[64];
} f;

#define PULL_ADDRESS "hf://o/n@0123456789abcdef0123456789abcdef01234567"

static wb_status open_push(const wb_push_options *options, wb_push **push)
{
    const char *const paths[] = {f.pushed};
    return wb_push_open(f.net, "hf://o/n", paths, 1, options, push, NULL);
}

/* Opens a download and an upload. The listing and the commit of the branch are in the cache, so that
 * they need no request. */
static void open_pull(void)
{
    static const char listing[] = "{\"format_version\":1,\"files\":{\"x\":{\"size\":1,"
                                  "\"blob_id\":\"0123456789abcdef0123456789abcdef01234567\"}}}";
    static const char *const folders[] = {"", "/models--o--n", "/models--o--n/trees",
                                          "/models--o--n/refs"};
    char *cache = text_of("%s/cache", f.folder);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *folder = text_of("%s%s", cache, folders[i]);
        assert_int_equal(mkdir(folder, 0700), 0);
        free(folder);
    }
    char *tree = text_of("%s/models--o--n/trees/%s.json", cache, strchr(PULL_ADDRESS, '@') + 1);
    char *branch = text_of("%s/models--o--n/refs/main", cache);
    f.pushed = text_of("%s/pushed", cache);
    write_file(tree, listing, sizeof listing - 1);
    write_file(branch, strchr(PULL_ADDRESS, '@') + 1, 40);
    write_file(f.pushed, "x", 1);
    setenv("HF_HUB_OFFLINE", "1", 1);
    setenv("HF_HUB_CACHE", cache, 1);
    OK(wb_net_open(NULL, &f.net, E));
    OK(wb_pull_open(f.net, PULL_ADDRESS, NULL, &f.pull, E));
    assert_int_equal(open_push(NULL, &f.push), WB_OK);
    free(branch);
    free(tree);
    free(cache);
}

static wb_status write_model(const char *path, const char *text, float last)
{
    static const int32_t inner_numbers[] = {4, 5};
    wb_writer_options options = {.size = sizeof options, .format = "gguf"};
    wb_value inner = {.size = sizeof inner,
                      .type = WB_META_ARRAY,
                      .element = WB_META_INT,
                      .bits = 32,
                      .count = 2,
                      .items = inner_numbers};
    wb_value outer = {.size = sizeof outer,
                      .type = WB_META_ARRAY,
                      .element = WB_META_ARRAY,
                      .count = 1,
                      .items = &inner};
    wb_value layers = {.size = sizeof layers, .type = WB_META_UINT, .bits = 32, .number = 1};
    float values[32] = {1, 2, 3, NAN};
    const uint64_t shape[] = {4, 8};
    uint64_t index;
    wb_writer *writer;
    values[31] = last;
    OK(wb_writer_create(&options, &writer, E));
    OK(wb_writer_set_string(writer, "text", SIZE_MAX, text, SIZE_MAX, E));
    OK(wb_writer_set(writer, "numbers", SIZE_MAX, &inner, E));
    OK(wb_writer_set(writer, "block_count", SIZE_MAX, &layers, E));
    OK(wb_writer_set(writer, "nested", SIZE_MAX, &outer, E));
    OK(wb_writer_add(writer, "t", SIZE_MAX, WB_DTYPE_F32, shape, 2, &index, E));
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    OK(wb_writer_put(writer, index, 0, values, sizeof values, E));
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    return WB_OK;
}

static const char named_file[] =
    "\x48\0\0\0\0\0\0\0"
    "{\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}  "
    "\0\0\x80\x3F";

static void set_up(void)
{
    const uint64_t shape[] = {4, 8};
    wb_writer_options options = {.size = sizeof options, .format = "gguf"};
    make_guard();
    f.folder = scratch_make();
    f.a_path = text_of("%s/a.gguf", f.folder);
    f.b_path = text_of("%s/b.gguf", f.folder);
    f.store = text_of("%s/store", f.folder);
    (void)write_model(f.a_path, "one", 8);
    (void)write_model(f.b_path, "another", 9);
    OK(wb_open(f.a_path, NULL, &f.a, E));
    OK(wb_open(f.b_path, NULL, &f.b, E));
    OK(wb_provider_create(f.a, NULL, NULL, &f.provider, E));
    OK(wb_open_memory(named_file, sizeof named_file - 1, "named", NULL, &f.named, E));
    OK(wb_provider_create(f.named, NULL, NULL, &f.named_provider, E));
    OK(wb_provider_weights(f.named_provider, WB_WEIGHTS_OUTSIDE, NULL, &f.weights, E));
    OK(wb_slice_plan(f.a, "t", SIZE_MAX, 0, 1, 2, &f.plan, E));
    OK(wb_hash_model(f.a, NULL, &f.hashes, E));
    OK(wb_diff_models(f.a, f.b, NULL, &f.diff, E));
    open_pull();
    OK(wb_verify_model(f.a, NULL, &f.findings, E));
    OK(wb_convert_plan(f.a, WB_TARGET_SAFETENSORS, NULL, &f.conversion, E));
    OK(wb_writer_create(&options, &f.writer, E));
    OK(wb_writer_add(f.writer, "t", SIZE_MAX, WB_DTYPE_F32, shape, 2, NULL, E));
    OK(wb_writer_plan(f.writer, "t.gguf", E));
    for (size_t i = 0; i < 64; i++)
        f.values[i] = 0x3F800000;
}

static void tear_down(void)
{
    wb_pull_close(f.pull);
    wb_push_close(f.push);
    free(f.pushed);
    wb_net_close(f.net);
    wb_writer_free(f.writer);
    wb_conversion_free(f.conversion);
    wb_findings_free(f.findings);
    wb_diff_free(f.diff);
    wb_hashes_free(f.hashes);
    wb_plan_free(f.plan);
    wb_provider_destroy(f.provider);
    wb_weights_free(f.weights);
    wb_provider_destroy(f.named_provider);
    wb_close(f.named);
    wb_close(f.b);
    wb_close(f.a);
    free(f.store);
    free(f.b_path);
    free(f.a_path);
    scratch_remove(f.folder);
}

/* ---- calls that fill a struct; they must fail if `fails` is 1 ---- */

static wb_status file_at(void *s, int fails)
{
    return wb_file_at(f.a, fails ? 9 : 0, s, NULL);
}

static wb_status writer_file_at(void *s, int fails)
{
    return wb_writer_file_at(f.writer, fails ? 9 : 0, s, NULL);
}

static wb_status tensor_at(void *s, int fails)
{
    return wb_tensor_at(f.a, fails ? 9 : 0, s, NULL);
}

static wb_status writer_tensor_at(void *s, int fails)
{
    return wb_writer_tensor_at(f.writer, fails ? 9 : 0, s, NULL);
}

static wb_status tensor_encoding(void *s, int fails)
{
    return wb_tensor_encoding(f.a, fails ? 9 : 0, s, NULL);
}

static wb_status tensor_part(void *s, int fails)
{
    return wb_tensor_part(f.a, 0, fails ? 9 : 0, s, NULL);
}

/* Also passes the filled struct to wb_config_at, which takes it as an input. */
static wb_status config_get(void *s, int fails)
{
    wb_config_value value = {.size = sizeof value};
    if (fails) /* wb_config_get fails only if memory is exhausted */
        return WB_ERROR_MEMORY;
    wb_status status = wb_config_get(f.a, s, NULL);
    if (status == WB_OK)
        status = wb_config_at(s, WB_CONFIG_DIM, &value);
    return status;
}

static wb_status config_at(void *s, int fails)
{
    wb_config config = {.size = sizeof config};
    OK(wb_config_get(f.a, &config, E));
    return wb_config_at(&config, fails ? WB_CONFIG_FIELDS : WB_CONFIG_DIM, s);
}

static wb_status layer_get(void *s, int fails)
{
    return wb_layer_get(f.a, fails ? 999 : 0, s, NULL);
}

static wb_status rope_get(void *s, int fails)
{
    return wb_rope_get(f.a, fails ? 999 : 0, 0, s, NULL, 0, NULL);
}

static wb_status special_tokens(void *s, int fails)
{
    /* the call fails only if memory is exhausted */
    return fails ? WB_ERROR_MEMORY : wb_special_tokens_get(f.a, s, NULL);
}

static wb_status meta_at(void *s, int fails)
{
    return wb_meta_at(f.a, fails ? 999 : 0, s, NULL);
}

static wb_status get_array(void *s, int fails)
{
    int64_t numbers[2] = {0, 0};
    wb_status status =
        wb_meta_get_array(f.a, fails ? "none" : "numbers", SIZE_MAX, WB_META_ANY, s, NULL);
    if (status == WB_OK) {
        OK(wb_meta_ints(s, 0, 2, numbers));
        assert_int_equal(numbers[1], 5);
    }
    return status;
}

static wb_status array_at(void *s, int fails)
{
    wb_meta_array outer = {.size = sizeof outer};
    OK(wb_meta_get_array(f.a, "nested", SIZE_MAX, WB_META_ANY, &outer, E));
    return wb_meta_array_at(&outer, fails ? 1 : 0, s);
}

static wb_status findings_at(void *s, int fails)
{
    return wb_findings_at(f.findings, fails ? 99 : 0, s);
}

static wb_status dtype_describe(void *s, int fails)
{
    return wb_dtype_describe(fails ? 9999 : WB_DTYPE_Q4_K, s);
}

static wb_status mlx_measure(void *s, int fails)
{
    const wb_mlx_type type = {
        .size = sizeof type, .mode = WB_MLX_AFFINE, .bits = 4, .group_size = fails ? 7 : 32};
    return wb_mlx_measure(&type, WB_DTYPE_F32, 1, 32, s, NULL);
}

/* wb_provider_get fills the struct; download and release take it as an input. */
static wb_status provider_get(void *s, int fails)
{
    wb_buffer *buffer = s;
    size_t size = buffer->size;
    float value = 0;
    wb_status status = wb_provider_get(f.provider, fails ? "none" : "t", SIZE_MAX, s, NULL);
    if (status != WB_OK)
        return status;
    OK(wb_provider_download(f.provider, s, 0, &value, 2, E));
    wb_provider_release(f.provider, s);
    assert_int_equal(buffer->size, size);
    assert_null(buffer->use);
    wb_provider_release(f.provider, s);
    return wb_provider_get(f.provider, "t", SIZE_MAX, s, NULL);
}

static wb_status provider_slice(void *s, int fails)
{
    return wb_provider_slice(f.provider, "t", SIZE_MAX, 0, 1, fails ? 0 : 2, s, NULL);
}

static wb_status provider_fuse(void *s, int fails)
{
    const char *const names[] = {"t", "t"};
    return wb_provider_fuse(f.provider, names, NULL, fails ? 0 : 2, 0, s, NULL);
}

static wb_status provider_stats(void *s, int fails)
{
    return fails ? WB_ERROR_MEMORY : wb_provider_stats(f.provider, s, NULL);
}

static wb_status weights_at(void *s, int fails)
{
    return wb_weights_at(f.weights, fails ? 9 : 0, s);
}

static wb_status weights_find(void *s, int fails)
{
    return wb_weights_find(f.weights, fails ? "none" : "output_norm.weight", SIZE_MAX, s);
}

static wb_status plan_describe(void *s, int fails)
{
    return fails ? WB_ERROR_MEMORY : wb_plan_describe(f.plan, s);
}

static wb_status plan_cut_at(void *s, int fails)
{
    return wb_plan_cut_at(f.plan, fails ? 9 : 0, s);
}

static wb_status plan_range_at(void *s, int fails)
{
    return wb_plan_range_at(f.plan, fails ? 9 : 0, s);
}

static wb_status load_report(void *s, int fails)
{
    wb_load_options options = {.size = sizeof options, .flags = fails ? 0x80000000u : 0};
    return wb_load(f.a, &options, s, NULL);
}

static wb_status edited(void *s, int fails)
{
    const wb_edit_options options = {.size = sizeof options, .flags = WB_EDIT_DRY_RUN};
    const wb_edit edit = {.size = sizeof edit,
                          .kind = fails ? WB_EDIT_RENAME : WB_EDIT_DELETE,
                          .name = fails ? "none" : "text",
                          .name_len = 4,
                          .to = "x",
                          .to_len = 1};
    return wb_edit_file(f.a_path, &edit, 1, &options, s, NULL);
}

static wb_status partial(void *s, int fails)
{
    return wb_convert_partial(fails ? (wb_target)99 : WB_TARGET_GGUF, "none.gguf", NULL, 0, s,
                              NULL);
}

static wb_status hash_tensor_at(void *s, int fails)
{
    return wb_hash_tensor_at(f.hashes, fails ? 9 : 0, s);
}

static wb_status diff_tensor_at(void *s, int fails)
{
    return wb_diff_tensor_at(f.diff, fails ? 9 : 0, s);
}

static wb_status diff_meta_at(void *s, int fails)
{
    return wb_diff_meta_at(f.diff, fails ? 9 : 0, s);
}

static wb_status conversion_at(void *s, int fails)
{
    return wb_conversion_at(f.conversion, fails ? 9 : 0, s, NULL);
}

static wb_status net_statistics(void *s, int fails)
{
    (void)fails;
    return wb_net_statistics(f.net, s, NULL);
}

static wb_status pull_file_at(void *s, int fails)
{
    return wb_pull_file_at(f.pull, fails ? 9 : 0, s, NULL);
}

static wb_status push_file_at(void *s, int fails)
{
    return wb_push_file_at(f.push, fails ? 9 : 0, s, NULL);
}

static const struct output {
    wb__abi_id id;
    wb_status (*call)(void *s, int fails);
} outputs[] = {
    {WB__ABI_wb_net_stats, net_statistics},
    {WB__ABI_wb_pull_file, pull_file_at},
    {WB__ABI_wb_push_file, push_file_at},
    {WB__ABI_wb_file, file_at},
    {WB__ABI_wb_file, writer_file_at},
    {WB__ABI_wb_tensor, tensor_at},
    {WB__ABI_wb_tensor, writer_tensor_at},
    {WB__ABI_wb_encoding, tensor_encoding},
    {WB__ABI_wb_part, tensor_part},
    {WB__ABI_wb_config, config_get},
    {WB__ABI_wb_config_value, config_at},
    {WB__ABI_wb_layer, layer_get},
    {WB__ABI_wb_rope, rope_get},
    {WB__ABI_wb_special_tokens, special_tokens},
    {WB__ABI_wb_meta, meta_at},
    {WB__ABI_wb_meta_array, get_array},
    {WB__ABI_wb_meta_array, array_at},
    {WB__ABI_wb_finding, findings_at},
    {WB__ABI_wb_dtype_info, dtype_describe},
    {WB__ABI_wb_mlx_sizes, mlx_measure},
    {WB__ABI_wb_buffer, provider_get},
    {WB__ABI_wb_buffer, provider_slice},
    {WB__ABI_wb_buffer, provider_fuse},
    {WB__ABI_wb_cache_stats, provider_stats},
    {WB__ABI_wb_weight, weights_at},
    {WB__ABI_wb_weight, weights_find},
    {WB__ABI_wb_plan_info, plan_describe},
    {WB__ABI_wb_plan_cut, plan_cut_at},
    {WB__ABI_wb_plan_range, plan_range_at},
    {WB__ABI_wb_load_report, load_report},
    {WB__ABI_wb_edited, edited},
    {WB__ABI_wb_partial, partial},
    {WB__ABI_wb_tensor_hash, hash_tensor_at},
    {WB__ABI_wb_tensor_diff, diff_tensor_at},
    {WB__ABI_wb_meta_diff, diff_meta_at},
    {WB__ABI_wb_converted, conversion_at},
};

static void check_zero(const unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        assert_int_equal(bytes[i], 0);
}

/* Returns false for structs with members that change between calls (times, use counts). */
static bool is_steady(wb__abi_id id)
{
    return id != WB__ABI_wb_cache_stats && id != WB__ABI_wb_load_report;
}

/* Checks that a call with a struct of `size` bytes writes the same `size` bytes as a call with the
 * current, complete struct. */
static void check_output(const struct output *row, size_t size, const unsigned char *reference)
{
    const wb__abi *abi = &wb__abis[row->id];
    unsigned char *s = place(size);
    wb_status status = row->call(s, 0);
    if (status != WB_OK)
        fail_msg("%s of %zu bytes: status %d\n", abi->name, size, (int)status);
    check_canary(s);
    assert_int_equal(wb__size_of(s), size);
    size_t both = size < abi->today ? size : abi->today;
    if (is_steady(row->id) && memcmp(s + sizeof size, reference + sizeof size, both - sizeof size))
        fail_msg("%s of %zu bytes: other contents\n", abi->name, size);
    check_zero(s, both, size);
    s = place(size);
    if (row->call(s, 1) == WB_ERROR_MEMORY)
        return; /* the call fails only if memory is exhausted, so there is nothing to check */
    check_canary(s);
    assert_int_equal(wb__size_of(s), size);
    check_zero(s, sizeof size, size);
}

static void outputs_of_other_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        const struct output *row = &outputs[i];
        const wb__abi *abi = &wb__abis[row->id];
        const size_t unit = sizeof(size_t);
        unsigned char reference[1024];
        assert_true(abi->today <= sizeof reference && abi->first <= abi->today);
        unsigned char *s = place(abi->today);
        assert_int_equal(row->call(s, 0), WB_OK);
        memcpy(reference, s, abi->today);
        size_t least = (abi->least + unit - 1) / unit * unit;
        for (size_t size = least; size <= abi->today + GROWN; size += unit)
            check_output(row, size, reference);
        check_output(row, abi->first, reference);
        /* A struct that is too short is refused, and no byte after the struct is cleared. */
        for (size_t size = unit; size < least; size += unit) {
            s = place(size);
            assert_int_equal(row->call(s, 0), WB_ERROR_ARGUMENT);
            check_canary(s);
            check_zero(s, unit, size);
        }
    }
}

/* Tests sizes that no version of a struct can have. A caller that forgets to initialize a struct
 * passes such a size. */
static void outputs_of_no_size(void **state)
{
    static const size_t sizes[] = {
        0, 1, 3, sizeof(wb_tensor) - 1, sizeof(wb_tensor) + 1, WB__STRUCT_MAX + 8, SIZE_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        wb_error error;
        wb_tensor tensor = {.size = sizes[i], .rank = 7};
        assert_int_equal(wb_tensor_at(f.a, 0, &tensor, &error), WB_ERROR_ARGUMENT);
        assert_int_equal(tensor.size, sizes[i]);
        assert_int_equal(tensor.rank, sizes[i] < offsetof(wb_tensor, rank) ? 7 : 0);
        assert_non_null(strstr(error.message, "wb_tensor.size"));
    }
}

/* ---- inputs ---- */

static wb_status own_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    (void)ctx;
    (void)offset;
    (void)dst;
    (void)n;
    *got = 0;
    return WB_OK;
}

static wb_status own_alloc(void *ctx, uint64_t bytes, void **handle)
{
    (void)ctx;
    (void)bytes;
    *handle = NULL;
    return WB_ERROR_MEMORY;
}

static void own_free(void *ctx, void *handle, uint64_t bytes)
{
    (void)ctx;
    (void)handle;
    (void)bytes;
}

static wb_status own_upload(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                            void **event)
{
    (void)ctx;
    (void)handle;
    (void)offset;
    (void)src;
    (void)n;
    *event = NULL;
    return WB_OK;
}

static wb_status own_download(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n)
{
    (void)ctx;
    (void)handle;
    (void)offset;
    (void)dst;
    (void)n;
    return WB_OK;
}

static wb_status close_after(wb_model *model, wb_status status)
{
    wb_close(model);
    return status;
}

static const char st_file[] = "\x02\0\0\0\0\0\0\0{}";

static wb_status open_with(const void *s)
{
    wb_model *model;
    wb_status status = wb_open_memory(st_file, sizeof st_file - 1, "x", s, &model, NULL);
    return close_after(model, status);
}

static wb_status limits(const void *s)
{
    wb_open_options options = {.size = sizeof options, .limits = s};
    return open_with(&options);
}

static wb_status files(const void *s)
{
    wb_open_options options = {.size = sizeof options, .files = s};
    return open_with(&options);
}

static wb_status family_table(const void *s)
{
    wb_families *families;
    wb_status status = wb_families_read(s, 1, NULL, &families, NULL);
    wb_families_free(families);
    return status == WB_ERROR_NOT_FOUND ? WB_OK : status; /* the file of t_table does not exist */
}

static wb_status net_options(const void *s)
{
    wb_net *net;
    wb_status status = wb_net_open(s, &net, NULL);
    wb_net_close(net);
    return status;
}

static wb_status pull_options(const void *s)
{
    wb_pull *pull;
    wb_status status = wb_pull_open(f.net, PULL_ADDRESS, s, &pull, NULL);
    wb_pull_close(pull);
    return status;
}

static wb_status push_options(const void *s)
{
    wb_push *push;
    wb_status status = open_push(s, &push);
    wb_push_close(push);
    return status;
}

static wb_status source(const void *s)
{
    wb_model *model;
    wb_status status = wb_open_source(s, "x", NULL, &model, NULL);
    return close_after(model, status);
}

static wb_status slice(const void *s)
{
    uint64_t elements, bytes;
    wb_status status = wb_tensor_read_size(f.a, 0, s, -1, &elements, &bytes, NULL);
    assert_int_equal(elements, status == WB_OK ? 32 : 0);
    return status;
}

static wb_status verify(const void *s)
{
    wb_findings *findings;
    wb_status status = wb_verify_model(f.a, s, &findings, NULL);
    wb_findings_free(findings);
    if (status == WB_OK) {
        status = wb_verify(f.a_path, s, &findings, NULL);
        wb_findings_free(findings);
    }
    return status;
}

static wb_status mlx_type(const void *s)
{
    wb_mlx_sizes sizes = {.size = sizeof sizes};
    wb_status status = wb_mlx_measure(s, WB_DTYPE_F32, 1, 32, &sizes, NULL);
    assert_int_equal(sizes.weight_bytes, status == WB_OK ? 16 : 0);
    return status;
}

static const wb_mlx_type affine = {
    .size = sizeof affine, .mode = WB_MLX_AFFINE, .bits = 4, .group_size = 32};
static uint32_t weight[64], scales[64], biases[64];

static wb_status mlx_buffers(const void *s)
{
    return wb_mlx_quantize(&affine, WB_DTYPE_F32, f.values, 1, 32, s, NULL, NULL);
}

/* A struct that ends before `scales_dtype` and `biases_dtype` selects 0 for both, which is F32. */
static wb_status mlx_parts(const void *s)
{
    float out[32];
    return wb_mlx_dequantize(&affine, s, 1, 32, WB_DTYPE_F32, out, sizeof out, NULL, NULL);
}

static wb_status fp8_block(const void *s)
{
    float out[32];
    return wb_fp8_dequantize(s, out, sizeof out, NULL, NULL);
}

static wb_status int4_tensor(const void *s)
{
    float out[64];
    return wb_int4_dequantize(s, out, sizeof out, NULL, NULL);
}

static wb_status device(const void *s)
{
    wb_provider *provider;
    wb_status status = wb_provider_create(f.a, s, NULL, &provider, NULL);
    wb_provider_destroy(provider);
    if (status != WB_OK)
        return status;
    wb_load_options options = {.size = sizeof options, .device = s};
    assert_int_equal(wb_load(f.a, &options, NULL, NULL),
                     WB_ERROR_ARGUMENT); /* expected, because `options` has no `target` */
    return WB_OK;
}

static wb_status host_options(const void *s)
{
    wb_device made;
    wb_status status = wb_device_host(s, &made, NULL);
    wb_device_close(&made);
    return status;
}

static wb_status opencl_options(const void *s)
{
    wb_device made;
    wb_status status = wb_device_opencl(s, &made, NULL);
    wb_device_close(&made);
    return status;
}

static wb_status cuda_options(const void *s)
{
    wb_device made;
    wb_status status = wb_device_cuda(s, &made, NULL);
    wb_device_close(&made);
    return status;
}

static wb_status policy(const void *s)
{
    wb_provider *provider;
    wb_status status = wb_provider_create(f.a, NULL, s, &provider, NULL);
    wb_provider_destroy(provider);
    return status;
}

static wb_status weights_options(const void *s)
{
    wb_weights *weights;
    wb_status status = wb_provider_weights(f.named_provider, WB_WEIGHTS_OUTSIDE, s, &weights, NULL);
    assert_int_equal(weights != NULL, status == WB_OK);
    wb_weights_free(weights);
    return status;
}

static wb_status load_options(const void *s)
{
    return wb_load(f.a, s, NULL, NULL);
}

static wb_status writer_options(const void *s)
{
    wb_writer *writer;
    wb_status status = wb_writer_create(s, &writer, NULL);
    wb_writer_free(writer);
    return status == WB_ERROR_UNSUPPORTED ? WB_OK : status;
}

static wb_status value(const void *s)
{
    wb_writer_options options = {.size = sizeof options, .format = "gguf"};
    wb_writer *writer;
    OK(wb_writer_create(&options, &writer, E));
    wb_status status = wb_writer_set(writer, "k", 1, s, NULL);
    wb_writer_free(writer);
    return status;
}

static const wb_edit_options dry = {.size = sizeof dry, .flags = WB_EDIT_DRY_RUN};

static wb_status edit(const void *s)
{
    return wb_edit_file(f.a_path, s, 1, &dry, NULL, NULL);
}

static wb_status edit_options(const void *s)
{
    return wb_edit_file(f.a_path, NULL, 0, s, NULL, NULL);
}

static wb_status hash_options(const void *s)
{
    wb_hashes *hashes;
    wb_status status = wb_hash_model(f.a, s, &hashes, NULL);
    wb_hashes_free(hashes);
    return status;
}

static wb_status diff_options(const void *s)
{
    wb_diff *diff;
    wb_status status = wb_diff_models(f.a, f.b, s, &diff, NULL);
    wb_diff_free(diff);
    return status;
}

static wb_status convert_policy(const void *s)
{
    wb_conversion *conversion;
    wb_status status = wb_convert_plan(f.a, WB_TARGET_SAFETENSORS, s, &conversion, NULL);
    wb_conversion_free(conversion);
    return status;
}

/* A template for each input struct: the test passes copies of it in all sizes. Members after
 * `least` (core/abi.def) are zero or do not change the status, so that a shorter copy must give the
 * same status. */
static const wb_limits t_limits = {.size = sizeof t_limits,
                                   .safetensors_header = 1000,
                                   .gguf_header = 1000,
                                   .npy_header = 1000,
                                   .files = 10,
                                   .rank = 10};
static const wb_net_options t_net_options = {.size = sizeof t_net_options, .flags = 1};
static const wb_pull_options t_pull_options = {.size = sizeof t_pull_options, .flags = 1};
static const wb_push_options t_push_options = {.size = sizeof t_push_options, .message = "m"};
static const wb_open_options t_open = {.size = sizeof t_open};
static int own_none(void *ctx, const char *path)
{
    (void)ctx;
    (void)path;
    return 0;
}

static wb_status open_none(void *ctx, const char *path, wb_source *made, int *is_folder,
                           wb_error *error)
{
    (void)ctx;
    (void)path;
    (void)made;
    (void)is_folder;
    (void)error;
    return WB_ERROR_NOT_FOUND;
}

static wb_status list_none(void *ctx, const char *path,
                           wb_status (*each)(void *each_ctx, const char *name), void *each_ctx,
                           wb_error *error)
{
    (void)ctx;
    (void)path;
    (void)each;
    (void)each_ctx;
    (void)error;
    return WB_ERROR_NOT_FOUND;
}

static const wb_files t_files = {
    .size = sizeof t_files, .owns = own_none, .open = open_none, .list = list_none};
static const wb_family_table t_table = {.size = sizeof t_table, .path = "/nonexistent"};
static const wb_source t_source = {.size = sizeof t_source, .read = own_read};
static const wb_slice t_slice = {.size = sizeof t_slice, .count = UINT64_MAX};
static const wb_verify_options t_verify = {.size = sizeof t_verify};
static const wb_mlx_buffers t_buffers = {sizeof t_buffers, weight,        scales,       biases,
                                         sizeof weight,    sizeof scales, sizeof biases};
static const wb_mlx_parts t_parts = {.size = sizeof t_parts,
                                     .weight = weight,
                                     .scales = scales,
                                     .biases = biases,
                                     .weight_bytes = sizeof weight,
                                     .scales_bytes = sizeof scales,
                                     .biases_bytes = sizeof biases};
static const wb_fp8_block t_fp8 = {.size = sizeof t_fp8,
                                   .weight = weight,
                                   .scales = scales,
                                   .weight_bytes = sizeof weight,
                                   .scales_bytes = sizeof scales,
                                   .weight_dtype = WB_DTYPE_F8_E4M3,
                                   .scales_dtype = WB_DTYPE_F32,
                                   .rows = 1,
                                   .columns = 32};
static const wb_int4_tensor t_int4 = {.size = sizeof t_int4,
                                      .packing = WB_INT4_AWQ,
                                      .qweight = weight,
                                      .qzeros = scales,
                                      .scales = biases,
                                      .qweight_bytes = sizeof weight,
                                      .qzeros_bytes = sizeof scales,
                                      .scales_bytes = sizeof biases,
                                      .scales_dtype = WB_DTYPE_F16,
                                      .out = 8,
                                      .in = 8};
static const wb_device t_device = {.size = sizeof t_device,
                                   .alloc = own_alloc,
                                   .free = own_free,
                                   .upload = own_upload,
                                   .download = own_download};
static const wb_host_options t_host = {.size = sizeof t_host, .alignment = 64};
static const wb_opencl_options t_opencl = {.size = sizeof t_opencl, .alignment = 64};
static const wb_cuda_options t_cuda = {.size = sizeof t_cuda, .ordinal = 999};
static const wb_policy t_policy = {.size = sizeof t_policy, .plain = WB_PLAIN_KEEP};
static const wb_weights_options t_weights = {.size = sizeof t_weights, .flags = WB_WEIGHTS_FUSE};
static const wb_load_options t_load = {.size = sizeof t_load};
static const wb_writer_options t_writer = {.size = sizeof t_writer, .format = "gguf"};
static const wb_value t_value = {
    .size = sizeof t_value, .type = WB_META_STRING, .text = "v", .text_len = 1};
static const wb_edit t_edit = {
    .size = sizeof t_edit, .kind = WB_EDIT_DELETE, .name = "text", .name_len = 4};
static const wb_hash_options t_hash = {.size = sizeof t_hash, .flags = WB_HASH_VALUES};
static const wb_diff_options t_diff = {.size = sizeof t_diff, .kinds = WB_DIFF_NAMES};
static const wb_convert_policy t_convert = {.size = sizeof t_convert, .quant = "F16"};

static const struct input {
    wb__abi_id id;
    wb_status (*call)(const void *s);
    const void *today;
} inputs[] = {
    {WB__ABI_wb_net_options, net_options, &t_net_options},
    {WB__ABI_wb_pull_options, pull_options, &t_pull_options},
    {WB__ABI_wb_push_options, push_options, &t_push_options},
    {WB__ABI_wb_limits, limits, &t_limits},
    {WB__ABI_wb_open_options, open_with, &t_open},
    {WB__ABI_wb_source, source, &t_source},
    {WB__ABI_wb_files, files, &t_files},
    {WB__ABI_wb_family_table, family_table, &t_table},
    {WB__ABI_wb_slice, slice, &t_slice},
    {WB__ABI_wb_verify_options, verify, &t_verify},
    {WB__ABI_wb_mlx_type, mlx_type, &affine},
    {WB__ABI_wb_mlx_buffers, mlx_buffers, &t_buffers},
    {WB__ABI_wb_mlx_parts, mlx_parts, &t_parts},
    {WB__ABI_wb_fp8_block, fp8_block, &t_fp8},
    {WB__ABI_wb_int4_tensor, int4_tensor, &t_int4},
    {WB__ABI_wb_device, device, &t_device},
    {WB__ABI_wb_host_options, host_options, &t_host},
    {WB__ABI_wb_opencl_options, opencl_options, &t_opencl},
    {WB__ABI_wb_cuda_options, cuda_options, &t_cuda},
    {WB__ABI_wb_policy, policy, &t_policy},
    {WB__ABI_wb_weights_options, weights_options, &t_weights},
    {WB__ABI_wb_load_options, load_options, &t_load},
    {WB__ABI_wb_writer_options, writer_options, &t_writer},
    {WB__ABI_wb_value, value, &t_value},
    {WB__ABI_wb_edit, edit, &t_edit},
    {WB__ABI_wb_edit_options, edit_options, &dry},
    {WB__ABI_wb_hash_options, hash_options, &t_hash},
    {WB__ABI_wb_diff_options, diff_options, &t_diff},
    {WB__ABI_wb_convert_policy, convert_policy, &t_convert},
};

/* Copies the template to a struct of `size` bytes that ends at the inaccessible page. */
static unsigned char *place_input(const struct input *row, size_t size)
{
    size_t today = wb__abis[row->id].today;
    unsigned char *s = place(size);
    memset(s, 0, size);
    memcpy(s, row->today, size < today ? size : today);
    memcpy(s, &size, sizeof size);
    return s;
}

static void inputs_of_other_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        const struct input *row = &inputs[i];
        const wb__abi *abi = &wb__abis[row->id];
        const size_t unit = sizeof(size_t);
        size_t least = (abi->least + unit - 1) / unit * unit;
        wb_status reference = row->call(place_input(row, abi->today));
        if (reference == WB_ERROR_ARGUMENT)
            fail_msg("%s: today's size is refused\n", abi->name);
        for (size_t size = unit; size <= abi->today + GROWN; size += unit) {
            unsigned char *s = place_input(row, size);
            wb_status status = row->call(s);
            if (status != (size < least ? WB_ERROR_ARGUMENT : reference))
                fail_msg("%s of %zu bytes: status %d\n", abi->name, size, (int)status);
            check_canary(s);
            if (size <= abi->today)
                continue;
            s[size - 1] = 1; /* a non-zero byte in a member that this version does not have */
            if (row->call(s) != WB_ERROR_ARGUMENT)
                fail_msg("%s of %zu bytes: an unknown member is ignored\n", abi->name, size);
        }
        assert_int_equal(row->call(place_input(row, abi->first)), reference);
    }
}

static void refusals_say_why(void **state)
{
    (void)state;
    struct {
        wb_open_options options;
        uint64_t later;
    } newer = {.options = {.size = sizeof newer}, .later = 1};
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open("x", &newer.options, &model, &error), WB_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "wb_open_options was compiled with a newer header"));
    newer.options.size = 3;
    assert_int_equal(wb_open("x", &newer.options, &model, &error), WB_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "wb_open_options.size is 3"));
}

/* ---- arrays of structs: elements are as far apart as the caller's size says ---- */

static void arrays_of_other_sizes(void **state)
{
    (void)state;
    const size_t unit = sizeof(size_t);
    const size_t today = sizeof(wb_edit);
    for (size_t size = offsetof(wb_edit, to); size <= today + GROWN; size += unit) {
        unsigned char *s = place(3 * size);
        memset(s, 0, 3 * size);
        for (int i = 0; i < 3; i++) {
            memcpy(s + (size_t)i * size, &t_edit, size < today ? size : today);
            memcpy(s + (size_t)i * size, &size, sizeof size);
        }
        const wb_edit *edits = (const wb_edit *)(void *)s;
        OK(wb_edit_file(f.a_path, edits, 3, &dry, NULL, E));
        memcpy(s + size, &(size_t){size + 8}, sizeof size);
        assert_int_equal(wb_edit_file(f.a_path, edits, 3, &dry, NULL, NULL), WB_ERROR_ARGUMENT);
        if (size < today)
            continue;
        /* The elements of an array of arrays are wb_value structs, whose size may differ, too. */
        static const int64_t numbers[] = {1, 2};
        const size_t bytes = sizeof(wb_value) + (size - today);
        const wb_value inner = {.size = bytes,
                                .type = WB_META_ARRAY,
                                .element = WB_META_INT,
                                .count = 2,
                                .items = numbers};
        wb_value outer = {
            .size = sizeof outer, .type = WB_META_ARRAY, .element = WB_META_ARRAY, .count = 2};
        s = place(2 * bytes);
        memset(s, 0, 2 * bytes);
        memcpy(s, &inner, sizeof inner);
        memcpy(s + bytes, &inner, sizeof inner);
        outer.items = s;
        assert_int_equal(value(&outer), WB_OK);
        memcpy(s + bytes, &(size_t){bytes + 8}, sizeof bytes);
        assert_int_equal(value(&outer), WB_ERROR_ARGUMENT);
    }
}

/* ---- structs whose `size` the library sets ---- */

static int see_entry(void *ctx, const wb_store_entry *entry)
{
    assert_int_equal(entry->size, sizeof *entry);
    ++*(int *)ctx;
    return 0;
}

static int see_piece(void *ctx, const wb_piece *piece)
{
    assert_int_equal(piece->size, sizeof *piece);
    ++*(int *)ctx;
    return 0;
}

static void structs_of_the_library(void **state)
{
    (void)state;
    int pieces = 0;
    wb_load_options options = {.size = sizeof options, .ctx = &pieces, .consume = see_piece};
    OK(wb_load(f.a, &options, NULL, E));
    assert_true(pieces > 0);
    int entries = 0;
    char *folder = text_of("%s/manifests/registry.ollama.ai/library/m", f.store);
    for (char *slash = folder + strlen(f.folder) + 1; slash != NULL;
         slash = strchr(slash + 1, '/')) {
        char *part = text_of("%.*s", (int)(slash - folder), folder);
        (void)mkdir(part, 0700);
        free(part);
    }
    assert_int_equal(mkdir(folder, 0700), 0);
    char *manifest = text_of("%s/latest", folder);
    write_file(manifest, "{}", 2);
    OK(wb_store_list(f.store, NULL, see_entry, &entries, E));
    assert_int_equal(entries, 1);
    free(manifest);
    free(folder);
    /* Functions that fill wb_device and wb_limits without a size write only the first version of
     * the struct. */
    const size_t first = wb__abis[WB__ABI_wb_device].first;
    wb_device *made = place(first);
    memset(made, OLD_BYTE, first);
    OK(wb_device_host(NULL, made, E));
    check_canary(made);
    assert_int_equal(made->size, first);
    wb_device_close(made);
    check_zero((const unsigned char *)made, 0, first);
    wb_device_close(made);
    wb_limits *filled = place(wb__abis[WB__ABI_wb_limits].first);
    memset(filled, OLD_BYTE, wb__abis[WB__ABI_wb_limits].first);
    wb_limits_default(filled);
    check_canary(filled);
    assert_int_equal(filled->size, wb__abis[WB__ABI_wb_limits].first);
    assert_int_equal(filled->rank, 65536);
}

/* ---- every struct is tested ---- */

static void every_struct_has_a_test(void **state)
{
    (void)state;
    bool tested[WB__ABI_COUNT] = {[WB__ABI_wb_piece] = true, [WB__ABI_wb_store_entry] = true};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        tested[outputs[i].id] = true;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        tested[inputs[i].id] = true;
    for (size_t i = 0; i < WB__ABI_COUNT; i++) {
        if (!tested[i])
            fail_msg("no test passes a %s\n", wb__abis[i].name);
    }
}

int main(void)
{
    /* Hides the OpenCL drivers, because valgrind reports errors in the dynamic linker if it loads
     * one. */
    setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_struct_has_a_test), cmocka_unit_test(outputs_of_other_sizes),
        cmocka_unit_test(outputs_of_no_size),      cmocka_unit_test(inputs_of_other_sizes),
        cmocka_unit_test(refusals_say_why),        cmocka_unit_test(arrays_of_other_sizes),
        cmocka_unit_test(structs_of_the_library),
    };
    set_up();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tear_down();
    return failed;
}
