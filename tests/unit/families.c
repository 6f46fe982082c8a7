/*
 * Tests the tables of families that a program adds (weighbridge/families.h): their search order,
 * bases in any order, lifetimes, limits, errors, and lack of memory.
 */
#include "executor.h"
#include "gguf_build.h"
#include "support.h"

#include <time.h>

/* ---- helpers ---- */

#define TABLES_MOST 300

static _Thread_local wb_error error;

/* Reads tables from memory. They are called t0, t1 and so on. */
static wb_status read_with(const char *const *texts, size_t count, const wb_allocator *allocator,
                           wb_families **families)
{
    static char paths[TABLES_MOST][24];
    wb_family_table tables[TABLES_MOST];
    wb_open_options options = WB_OPEN_OPTIONS_INIT;
    options.allocator = allocator;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "t%zu", i);
        tables[i] = (wb_family_table)WB_FAMILY_TABLE_INIT;
        tables[i].path = paths[i];
        tables[i].text = texts[i];
        tables[i].text_len = SIZE_MAX;
    }
    return wb_families_read(tables, count, &options, families, &error);
}

static wb_families *read_tables(const char *const *texts, size_t count)
{
    wb_families *families;
    if (read_with(texts, count, NULL, &families) != WB_OK)
        fail_msg("%s: %s: %s", error.file, error.name, error.message);
    return families;
}

/* Opens a GGUF file with one tensor of one element. */
static wb_model *open_with(const char *architecture, const char *tensor, wb_families *families,
                           const wb_allocator *allocator)
{
    static const uint8_t data[32];
    gguf g;
    wb_model *model;
    wb_open_options options = WB_OPEN_OPTIONS_INIT;
    options.families = families;
    options.allocator = allocator;
    options.access = WB_ACCESS_READ;
    gguf_start(&g, false, 1, 1);
    gguf_key(&g, "general.architecture", STR);
    gguf_string(&g, architecture);
    gguf_tensor(&g, tensor, (const uint64_t[]){1, 0}, 0, 0);
    gguf_pad(&g, 32);
    gguf_raw(&g, data, sizeof data);
    char *path = scratch_make(), *file = text_of("%s/model.gguf", path);
    write_file(file, g.bytes, g.n);
    wb_status status = wb_open(file, &options, &model, &error);
    if (status != WB_OK && allocator == NULL)
        fail_msg("%s", error.message);
    gguf_free(&g);
    free(file);
    scratch_remove(path);
    return model;
}

/* Checks the canonical name of the tensor; NULL: it has none. */
static void check_name(const wb_model *model, const char *canonical)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    const char *name;
    assert_int_equal(wb_tensor_at(model, 0, &tensor, &error), WB_OK);
    wb_status status = wb_canonical_name(model, tensor.name, SIZE_MAX, &name, NULL, &error);
    assert_int_equal(status, canonical == NULL ? WB_ERROR_NOT_FOUND : WB_OK);
    if (canonical != NULL)
        assert_string_equal(name, canonical);
}

/* Opens a model of an architecture with tables, and checks the canonical name of its tensor. */
static void check(const char *const *texts, size_t count, const char *architecture,
                  const char *tensor, const char *canonical)
{
    wb_families *families = read_tables(texts, count);
    wb_model *model = open_with(architecture, tensor, families, NULL);
    wb_families_free(families);
    check_name(model, canonical);
    wb_close(model);
}

/* ---- the search ---- */

#define MINE "family mine : llama\ngguf mine\n"
#define ODD_NAME "tensor L.odd | L.odd | B.strange\n"

static void adds_a_family(void **state)
{
    (void)state;
    const char *mine = MINE ODD_NAME, *other = "family other : llama\ngguf other\n";
    check(&mine, 0, "mine", "blk.3.strange.weight", NULL);
    check(&mine, 1, "mine", "blk.3.strange.weight", "layers.3.odd.weight");
    check(&mine, 1, "mine", "blk.3.attn_q.weight", "layers.3.attention.q.weight");
    check(&mine, 1, "llama", "blk.3.strange.weight", NULL);
    check((const char *[]){other, mine}, 2, "mine", "blk.3.strange.weight", "layers.3.odd.weight");
}

static void hides_families_of_the_same_name(void **state)
{
    (void)state;
    const char *replaced = "family llama\ngguf llama\n" ODD_NAME;
    const char *extended = "family llama : llama\n" ODD_NAME;
    const char *renamed = "family llama : llama\ngguf mine\n" ODD_NAME;
    const char *second = "family llama : llama\ntensor L.even | L.even | B.second\n";
    /* Without a base, the table replaces the compiled table with all its names. */
    check(&replaced, 1, "llama", "blk.3.strange.weight", "layers.3.odd.weight");
    check(&replaced, 1, "llama", "blk.3.attn_q.weight", NULL);
    /* With the name of its base, it also identifies the models of the base. */
    check(&extended, 1, "llama", "blk.3.strange.weight", "layers.3.odd.weight");
    check(&extended, 1, "llama", "blk.3.attn_q.weight", "layers.3.attention.q.weight");
    check(&renamed, 1, "llama", "blk.3.strange.weight", "layers.3.odd.weight");
    check(&renamed, 1, "mine", "blk.3.strange.weight", "layers.3.odd.weight");
    /* The base is then the next table with this name. */
    const char *both[] = {extended, second};
    check(both, 2, "llama", "blk.3.strange.weight", "layers.3.odd.weight");
    check(both, 2, "llama", "blk.3.second.weight", "layers.3.even.weight");
    check(both + 1, 1, "llama", "blk.3.strange.weight", NULL);
    const char *hidden[] = {replaced, second};
    check(hidden, 2, "llama", "blk.3.second.weight", NULL);
}

static void bases_in_any_order(void **state)
{
    (void)state;
    const char *strange = "family c : llama\n" ODD_NAME;
    const char *texts[] = {"family a : b\ngguf a\n", "family b : c\n", strange,
                           "family d : llama\ngguf d\n",
                           "family llama : llama\ntensor L.even | L.even | B.second\n"};
    check(texts, 5, "a", "blk.3.strange.weight", "layers.3.odd.weight");
    check(texts, 5, "d", "blk.3.second.weight", "layers.3.even.weight");
    check(texts, 4, "d", "blk.3.second.weight", NULL);
}

/* ---- lifetimes ---- */

static void outlives_its_caller(void **state)
{
    (void)state;
    counter c = {0};
    wb_allocator allocator = counter_allocator(&c);
    const char *mine = MINE ODD_NAME;
    wb_families *families;
    assert_int_equal(read_with(&mine, 1, &allocator, &families), WB_OK);
    wb_model *first = open_with("mine", "blk.3.strange.weight", families, &allocator);
    wb_model *second = open_with("mine", "blk.4.strange.weight", families, &allocator);
    wb_families_free(families);
    wb_families_free(NULL);
    check_name(first, "layers.3.odd.weight");
    wb_close(first);
    check_name(second, "layers.4.odd.weight");
    wb_close(second);
    assert_clean(&c);
}

static void open_and_close(void *arg, size_t i)
{
    wb_families *families = arg;
    (void)i;
    wb_model *model = open_with("mine", "blk.3.strange.weight", families, NULL);
    check_name(model, "layers.3.odd.weight");
    wb_close(model);
}

static void is_shared_by_threads(void **state)
{
    (void)state;
    const char *mine = MINE ODD_NAME;
    wb_families *families = read_tables(&mine, 1);
    for (size_t i = 0; i < 3; i++)
        crew_run(&(size_t){4}, 40, open_and_close, families);
    wb_families_free(families);
}

/* ---- files ---- */

static void reads_files(void **state)
{
    (void)state;
    char *folder = scratch_make(), *path = text_of("%s/my.family", folder);
    wb_family_table table = WB_FAMILY_TABLE_INIT;
    wb_families *families = (wb_families *)&table;
    table.path = path;
    assert_int_equal(wb_families_read(&table, 1, NULL, &families, &error), WB_ERROR_NOT_FOUND);
    assert_null(families);
    assert_string_equal(error.file, path);
    table.path = folder;
    assert_int_equal(wb_families_read(&table, 1, NULL, &families, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "not-a-regular-file");
    table.path = path;
    write_file(path, MINE ODD_NAME, strlen(MINE ODD_NAME));
    assert_int_equal(wb_families_read(&table, 1, NULL, &families, &error), WB_OK);
    wb_model *model = open_with("mine", "blk.3.strange.weight", families, NULL);
    wb_families_free(families);
    check_name(model, "layers.3.odd.weight");
    wb_close(model);
    char *large = malloc(WB_FAMILY_TABLE_BYTES + 1);
    assert_non_null(large);
    memset(large, '\n', WB_FAMILY_TABLE_BYTES + 1);
    memcpy(large, MINE, strlen(MINE));
    write_file(path, large, WB_FAMILY_TABLE_BYTES);
    assert_int_equal(wb_families_read(&table, 1, NULL, &families, &error), WB_OK);
    wb_families_free(families);
    write_file(path, large, WB_FAMILY_TABLE_BYTES + 1);
    assert_int_equal(wb_families_read(&table, 1, NULL, &families, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "family-table");
    free(large);
    free(path);
    scratch_remove(folder);
}

/* ---- errors ---- */

/* Reading the tables must fail with a message that contains `message`, in the file `file`. */
static void refused(const char *const *texts, size_t count, wb_status status, const char *file,
                    const char *message)
{
    wb_families *families = (wb_families *)&error;
    assert_int_equal(read_with(texts, count, NULL, &families), status);
    assert_null(families);
    assert_string_equal(error.file, file);
    assert_string_equal(error.code, count > WB_FAMILY_TABLES_MAX ? "family-table" : error.code);
    if (strstr(error.message, message) == NULL)
        fail_msg("'%s' instead of '%s'", error.message, message);
}

static void errors(void **state)
{
    (void)state;
    wb_family_table table = WB_FAMILY_TABLE_INIT;
    wb_families *families;
    assert_int_equal(wb_families_read(&table, 1, NULL, NULL, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_families_read(NULL, 1, NULL, &families, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_families_read(&table, 1, NULL, &families, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_families_read(NULL, 0, NULL, &families, NULL), WB_OK);
    wb_families_free(families);

    const char *wrong = "family a\n\ntensor x | y |\n  z twist\n", *right = MINE;
    refused(&wrong, 1, WB_ERROR_FORMAT, "t0", "line 4, statement 'tensor': ");
    refused((const char *[]){right, wrong}, 2, WB_ERROR_FORMAT, "t1", "line 4");
    const char *missing = "family a : nowhere\n", *self = "family a : a\n";
    refused(&missing, 1, WB_ERROR_FORMAT, "t0", "line 1, statement 'family': there is no table");
    refused(&self, 1, WB_ERROR_FORMAT, "t0", "there is no table");
    const char *circle[] = {right, "family a : b\n", "family b : c\n", "family c : a\n"};
    refused(circle, 4, WB_ERROR_FORMAT, "t1", "inherits from itself");
    refused(circle, 2, WB_ERROR_FORMAT, "t1", "there is no table");
}

/* ---- hostile tables ---- */

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static char *repeat(const char *head, const char *format, int n)
{
    char *text = malloc(strlen(head) + (size_t)n * (strlen(format) + 24) + 1), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", head);
    for (int i = 0; i < n; i++)
        at += sprintf(at, format, i, i + 1, i + 1);
    return text;
}

static void hostile(void **state)
{
    (void)state;
    static const struct {
        const char *head, *format;
        int most; /* the largest accepted number of repetitions */
        int n;
        const char *message;
    } rows[] = {
        /* each definition doubles the work of the next one */
        {"family a\nlet x20 = 1\n", "let x%d = x%d + x%d\n", 0, 20, "too many steps"},
        {"family a\n", "let x%d = x%d + x%d\n", 7, 12, "too many steps"},
        {"family a\n", "let x%d = pow(pow(dim, 1.5), 2) + %d + %d\n", 900, 1000, "too many steps"},
        {"family a\n", "tensor t%d | a%d.b%d | -\n", 255, 256, "512 tensor names"},
        {"family a : llama\n", "let x%d = %d * %d\n", 700, 1000, "more than 1024 statements"},
        {"family a\n", "type t%d t%d t%d\n", 200, 1000, "too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double begin = seconds();
        char *text = repeat(rows[i].head, rows[i].format, rows[i].most);
        const char *texts[] = {text};
        wb_families_free(read_tables(texts, 1));
        free(text);
        texts[0] = text = repeat(rows[i].head, rows[i].format, rows[i].n);
        wb_families *families;
        wb_status status = read_with(texts, 1, NULL, &families);
        if (status == WB_OK || strstr(error.message, rows[i].message) == NULL)
            fail_msg("row %zu: '%s'", i, status == WB_OK ? "accepted" : error.message);
        free(text);
        assert_true(seconds() - begin < 5);
    }
}

/* A chain of tables may have 12 members, and there may be 256 tables. */
static void many_tables(void **state)
{
    (void)state;
    static char texts[TABLES_MOST][64];
    const char *list[TABLES_MOST];
    for (size_t i = 0; i < TABLES_MOST; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "family f%zu%s", i, i == 0 ? "\n" : "");
        if (i > 0)
            (void)snprintf(texts[i], sizeof texts[i], "family f%zu : f%zu\n", i,
                           i % 12 == 0 ? 0 : i - 1);
        list[i] = texts[i];
    }
    (void)snprintf(texts[12], sizeof texts[12], "family f12\n");
    wb_families_free(read_tables(list, 13));
    (void)snprintf(texts[12], sizeof texts[12], "family f12 : f11\n");
    refused(list, 13, WB_ERROR_FORMAT, "t12", "more than 12 tables");
    for (size_t i = 0; i < TABLES_MOST; i++)
        (void)snprintf(texts[i], sizeof texts[i], "family f%zu : llama\n", i);
    wb_families_free(read_tables(list, WB_FAMILY_TABLES_MAX));
    refused(list, WB_FAMILY_TABLES_MAX + 1, WB_ERROR_LIMIT, "", "there are 257");
}

/* Definitions that refer to each other have no value, and cost little. */
static void circular_definitions(void **state)
{
    (void)state;
    const char *text =
        "family mine : llama\ngguf mine\nlet a = b + b + b\nlet b = a + a + a\n"
        "let c = c + c + c\nalways dim = a\nalways ffn_dim = c\nalways n_heads = 7\n";
    wb_families *families = read_tables(&text, 1);
    wb_model *model = open_with("mine", "blk.0.attn_q.weight", families, NULL);
    wb_families_free(families);
    wb_config config = WB_CONFIG_INIT;
    assert_int_equal(wb_config_get(model, &config, &error), WB_OK);
    assert_int_equal(config.dim, 0);
    assert_int_equal(config.ffn_dim, 0);
    assert_int_equal(config.n_heads, 7);
    wb_close(model);
}

/* ---- lack of memory ---- */

static void lack_of_memory(void **state)
{
    (void)state;
    const char *strange = "family b : llama\n" ODD_NAME;
    const char *texts[] = {"family a : b\ngguf mine\n", strange};
    bool failed = true;
    for (size_t at = 1; failed; at++) {
        counter c = {.fail_at = at};
        wb_allocator allocator = counter_allocator(&c);
        wb_families *families;
        wb_status status = read_with(texts, 2, &allocator, &families);
        failed = c.failed;
        assert_int_equal(status, failed ? WB_ERROR_MEMORY : WB_OK);
        wb_families_free(families);
        assert_clean(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_a_family),
        cmocka_unit_test(hides_families_of_the_same_name),
        cmocka_unit_test(bases_in_any_order),
        cmocka_unit_test(outlives_its_caller),
        cmocka_unit_test(is_shared_by_threads),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(errors),
        cmocka_unit_test(hostile),
        cmocka_unit_test(many_tables),
        cmocka_unit_test(circular_definitions),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
