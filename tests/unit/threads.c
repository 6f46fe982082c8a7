/* Tests several threads that query one open model concurrently. */
#include "support.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

#include <pthread.h>

#define THREADS 6
#define TENSORS 40

static char *folder;

typedef struct worker {
    pthread_t thread;
    const wb_model *model;
    bool mapped;
    unsigned seed;
    const char *complaint; /* first error; NULL: none */
} worker;

#define EXPECT(w, condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (w)->complaint = #condition;                                                           \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

static void *work(void *arg)
{
    worker *w = arg;
    for (unsigned round = 0; round < (is_slow() ? 20 : 300); round++) {
        unsigned i = (round * 7 + w->seed * 11) % TENSORS;
        char name[24];
        const char *names;
        const uint64_t *offsets;
        const void *bytes;
        uint64_t index;
        float values[16], expected = (float)(i % 8 * 4);
        wb_tensor tensor = {.size = sizeof tensor};
        wb_error error;
        (void)snprintf(name, sizeof name, "tensor.%u", i);
        EXPECT(w, wb_tensor_find(w->model, name, SIZE_MAX, &index) == WB_OK && index == i);
        EXPECT(w, wb_tensor_at(w->model, index, &tensor, &error) == WB_OK);
        EXPECT(w, wb_tensor_names(w->model, WB_NAMES_NATIVE, &names, &offsets, &error) == WB_OK);
        EXPECT(w, strcmp(names + offsets[i], name) == 0);
        EXPECT(w, wb_tensor_read(w->model, index, NULL, WB_DTYPE_F32, values, sizeof values,
                                 &error) == WB_OK);
        EXPECT(w, values[0] == expected && values[3] == expected + 3);
        wb_status status = wb_tensor_data(w->model, index, &bytes, &error);
        EXPECT(w, status == (w->mapped ? WB_OK : WB_ERROR_UNSUPPORTED));
        if (w->mapped)
            EXPECT(w, *(const unsigned char *)bytes == i % 8 * 4);
        EXPECT(w, wb_owns_address(w->model, bytes) == (w->mapped ? 1 : 0));
        EXPECT(w, wb_model_check(w->model, &error) == WB_OK);
        EXPECT(w, wb_findings_count(wb_model_findings(w->model)) == 1);
    }
    return NULL;
}

static void run(wb_access access, bool mapped)
{
    wb_open_options options = {.size = sizeof options, .access = access};
    worker workers[THREADS];
    wb_model *model;
    assert_int_equal(wb_open(folder, &options, &model, NULL), WB_OK);
    assert_int_equal(wb_tensor_count(model), TENSORS);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.model = model, .mapped = mapped, .seed = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        if (workers[i].complaint != NULL)
            fail_msg("thread %u: not %s\n", i, workers[i].complaint);
    }
    wb_close(model);
}

static void mapping(void **state)
{
    (void)state;
    run(WB_ACCESS_MAP, true);
}

static void reading(void **state)
{
    (void)state;
    run(WB_ACCESS_READ, false);
}

/* Writes five shards of eight tensors each. */
static void make_files(void)
{
    folder = scratch_make();
    for (unsigned shard = 0; shard < 5; shard++) {
        char header[2000] = "{";
        for (unsigned i = 0; i < 8; i++)
            (void)snprintf(
                header + strlen(header), sizeof header - strlen(header),
                "%s\"tensor.%u\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[%u,%u]}",
                i > 0 ? "," : "", shard * 8 + i, i * 4, i * 4 + 4);
        char *path = text_of("%s/model-0000%u-of-00005.safetensors", folder, shard + 1);
        st_write(path, strcat(header, "}"), 32);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mapping), cmocka_unit_test(reading)};
    make_files();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
