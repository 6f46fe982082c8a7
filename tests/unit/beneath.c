/*
 * Tests that names are resolved beneath a directory: with openat2, and component by component as on
 * kernels without it. Both must open the same files, and refuse the same links.
 */
#include "support.h"

#include "io/beneath.h"

#include <dirent.h>

static char *folder;

static char *in(const char *name)
{
    return text_of("%s/%s", folder, name);
}

static void put_file(const char *name)
{
    char *path = in(name);
    write_file(path, name, strlen(name));
    free(path);
}

static void put_folder(const char *name)
{
    char *path = in(name);
    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
}

static void put_link(const char *target, const char *name)
{
    char *path = in(name);
    (void)unlink(path);
    assert_int_equal(symlink(target, path), 0);
    free(path);
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        (void)closedir(list);
    return count;
}

/* Checks that the descriptor reads the file `expected`, or, if `expected` is NULL, that opening has
 * failed with `os_error`. */
static void check(int fd, const char *expected, int os_error, const char *name)
{
    char text[64] = "";
    int got = errno;
    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
        fail_msg("%s: not readable", name);
    if (fd >= 0)
        assert_int_equal(close(fd), 0);
    if (expected == NULL ? fd >= 0 || got != os_error : fd < 0 || strcmp(text, expected) != 0)
        fail_msg("%s: opened '%s', errno %d", name, text, fd < 0 ? got : 0);
}

/* Opens `name` in folder/model with every function that resolves names. The result must be the file
 * `expected` or, if `expected` is NULL, the error `os_error`. */
static void opens(const char *name, const char *expected, int os_error)
{
    char *path = in("model"), *full = text_of("%s/model/%s", folder, name);
    struct stat st;
    unsigned before = count_descriptors();
    check(wb__beneath_open(path, name, O_RDONLY | O_CLOEXEC), expected, os_error, name);
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(wb__beneath_walk(root, path, name, O_RDONLY | O_CLOEXEC, true), expected, os_error, name);
    assert_int_equal(close(root), 0);
    assert_int_equal(wb__beneath_stat(path, full, false, &st), expected == NULL ? os_error : 0);
    assert_int_equal(count_descriptors(), before);
    free(path);
    free(full);
}

static void start_case(void)
{
    char *made = scratch_make();
    folder = realpath(made, NULL);
    free(made);
    put_folder("model");
    put_folder("model/sub");
    put_folder("model/sub/deep");
    put_file("outside");
    put_file("model/a");
    put_file("model/sub/b");
}

static void names(void **state)
{
    (void)state;
    start_case();
    opens("a", "model/a", 0);
    opens("./a", "model/a", 0);
    opens("sub/b", "model/sub/b", 0);
    opens("sub//.//b", "model/sub/b", 0);
    opens("sub/../a", "model/a", 0);
    opens("sub/deep/../../a", "model/a", 0);
    opens("..", NULL, EXDEV);
    opens("../outside", NULL, EXDEV);
    opens("../model/a", NULL, EXDEV);
    opens("sub/../../outside", NULL, EXDEV);
    opens("none", NULL, ENOENT);
    opens("none/a", NULL, ENOENT);
    opens("a/b", NULL, ENOTDIR);
    char longest[300];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    opens(longest, NULL, ENAMETOOLONG);
    scratch_remove(folder);
}

static void links(void **state)
{
    (void)state;
    start_case();
    static const struct {
        const char *target, *leads_to;
        int os_error;
    } rows[] = {
        {"a", "model/a", 0},
        {"./sub/../a", "model/a", 0},
        {"sub/b", "model/sub/b", 0},
        {"sub/deep/../b", "model/sub/b", 0},
        {"../outside", NULL, EXDEV},
        {"../model/a", NULL, EXDEV},
        {"sub/../../outside", NULL, EXDEV},
        {"/etc/passwd", NULL, EXDEV},
        {"/", NULL, EXDEV},
        {"/proc/self/exe", NULL, EXDEV},
        {"none", NULL, ENOENT},
        {"link", NULL, ELOOP},
        {"a/b", NULL, ENOTDIR},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_link(rows[i].target, "model/link");
        opens("link", rows[i].leads_to, rows[i].os_error);
        put_link("link", "model/chain");
        put_link("../chain", "model/sub/up");
        opens("sub/up", rows[i].leads_to, rows[i].os_error);
    }
    scratch_remove(folder);
}

static void absolute_links(void **state)
{
    (void)state;
    start_case();
    char *inside = in("model/sub/b"), *outside = in("outside"), *sibling = in("model2"),
         *up = in("model/../outside"), *other = in("model2/a");
    assert_int_equal(mkdir(sibling, 0700), 0);
    put_file("model2/a");
    put_link(inside, "model/link");
    opens("link", "model/sub/b", 0);
    put_link("../link", "model/sub/back");
    opens("sub/back", "model/sub/b", 0);
    put_link(outside, "model/link");
    opens("link", NULL, EXDEV);
    put_link(up, "model/link");
    opens("link", NULL, EXDEV);
    put_link(other, "model/link"); /* the path of "model2" also begins with that of "model" */
    opens("link", NULL, EXDEV);
    free(inside);
    free(outside);
    free(sibling);
    free(up);
    free(other);
    scratch_remove(folder);
}

static void directory_links(void **state)
{
    (void)state;
    start_case();
    put_link("sub", "model/inner");
    opens("inner/b", "model/sub/b", 0);
    opens("inner/deep/../b", "model/sub/b", 0);
    opens("inner/../a", "model/a", 0);
    put_link("..", "model/inner");
    opens("inner/outside", NULL, EXDEV);
    opens("inner/model/a", NULL, EXDEV);
    put_link(".", "model/inner");
    opens("inner/inner/inner/a", "model/a", 0);
    scratch_remove(folder);
}

/* A walk through too many nested directories must fail with ELOOP and leave no descriptors open. */
static void depth(void **state)
{
    (void)state;
    start_case();
    char name[400] = "";
    char *path = in("model");
    for (unsigned i = 0; i < 60; i++) {
        strcat(name, "d/");
        char *at = text_of("%s/%s", path, name);
        assert_int_equal(mkdir(at, 0700), 0);
        free(at);
    }
    strcat(name, "..");
    unsigned before = count_descriptors();
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(wb__beneath_walk(root, NULL, name, O_RDONLY, true), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(close(root), 0);
    assert_int_equal(count_descriptors(), before);
    free(path);
    scratch_remove(folder);
}

/* ---- caches of the Hugging Face Hub ---- */

#define SNAPSHOT "models--o--n/snapshots/abc"

static void opens_in(const char *directory, const char *name, const char *expected, int os_error)
{
    char *path = in(directory);
    check(wb__beneath_open(path, name, O_RDONLY | O_CLOEXEC), expected, os_error, name);
    free(path);
}

static void cache(void **state)
{
    (void)state;
    start_case();
    put_folder("models--o--n");
    put_folder("models--o--n/snapshots");
    put_folder(SNAPSHOT);
    put_folder(SNAPSHOT "/sub");
    put_folder("models--o--n/blobs");
    put_folder("blobs");
    put_folder("blobs/ab");
    put_file("models--o--n/blobs/1");
    put_file("models--o--n/refs");
    put_file("blobs/ab/2");
    put_link("../../blobs/1", SNAPSHOT "/a");
    put_link("../../../blobs/1", SNAPSHOT "/sub/b");
    opens_in(SNAPSHOT, "a", "models--o--n/blobs/1", 0);
    opens_in(SNAPSHOT, "sub/b", "models--o--n/blobs/1", 0);
    opens_in(SNAPSHOT "/sub", "b", "models--o--n/blobs/1", 0);
    put_link("../../blobs/ab/2", "models--o--n/blobs/2");
    put_link("../../blobs/2", SNAPSHOT "/a");
    opens_in(SNAPSHOT, "a", "blobs/ab/2", 0);
    put_link("../../blobs/none", SNAPSHOT "/a");
    opens_in(SNAPSHOT, "a", NULL, ENOENT);

    static const char *const wrong[] = {
        "../../refs",      "../../blobs/../refs", "../../../outside",
        "../blobs/1",      "../../../blobs/ab/2", "/etc/passwd",
        "../../blobs/out", "../../blobs/far",     "../../blobs/up/2"};
    put_link("../../outside", "models--o--n/blobs/out");
    put_link("/etc/passwd", "models--o--n/blobs/far");
    put_link("../../blobs/ab", "models--o--n/blobs/up");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_link(wrong[i], SNAPSHOT "/a");
        opens_in(SNAPSHOT, "a", NULL, EXDEV);
    }
    put_link("../../blobs/1", SNAPSHOT "/a");
    put_link("../../../outside", SNAPSHOT "/sub/b");
    opens_in(SNAPSHOT, "sub/b", NULL, EXDEV);
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),          cmocka_unit_test(links),
        cmocka_unit_test(absolute_links), cmocka_unit_test(directory_links),
        cmocka_unit_test(depth),          cmocka_unit_test(cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
