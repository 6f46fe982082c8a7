/*
 * Tests core/siphash.h. The expected values are from Python, which hashes bytes with SipHash-1-3.
 * The data are n bytes with the values 0, 1, 2, … PYTHONHASHSEED determines the key. For 0, the key
 * is zero. For 1 and 77, Python sets x to the seed. For each byte of the key it then replaces x by
 * x * 214013 + 2531011 (in 32 bits) and takes bits 16 to 23 of x.
 *
 *     PYTHONHASHSEED=77 python3 -c 'print(hex(hash(bytes(range(9))) & (2**64 - 1)))'
 */
#include "support.h"

#include "core/siphash.h"

static const struct vector {
    uint64_t key[2];
    size_t n;
    uint64_t hash;
} vectors[] = {
    {{0, 0}, 1, UINT64_C(0x68a914128e01e473)},
    {{0, 0}, 2, UINT64_C(0x010bac45c41e3669)},
    {{0, 0}, 7, UINT64_C(0x2f098ab0c751325a)},
    {{0, 0}, 8, UINT64_C(0xead411e67ebe2eea)},
    {{0, 0}, 9, UINT64_C(0x75927f9d95124362)},
    {{0, 0}, 15, UINT64_C(0xf30eb725bb91c9ea)},
    {{0, 0}, 16, UINT64_C(0x8972188433a5c5b7)},
    {{0, 0}, 17, UINT64_C(0x4883c49a2c009c1d)},
    {{0, 0}, 63, UINT64_C(0x385d3e39e5f37359)},
    {{0, 0}, 255, UINT64_C(0x5dc1f93ea135eb43)},
    {{0, 0}, 256, UINT64_C(0x31ae646afba70308)},
    {{UINT64_C(0xaed66ce184be2329), UINT64_C(0xebe9bbf1f1499052)}, 1, UINT64_C(0xecd3e5afcecda4b9)},
    {{UINT64_C(0xaed66ce184be2329), UINT64_C(0xebe9bbf1f1499052)}, 9, UINT64_C(0x208a1a5a0cbbf778)},
    {{UINT64_C(0xaed66ce184be2329), UINT64_C(0xebe9bbf1f1499052)},
     63,
     UINT64_C(0x542052345bc68274)},
    {{UINT64_C(0xa5d82b05502b1222), UINT64_C(0x2a36ec6c04605b32)}, 8, UINT64_C(0xf55af4419e8ffa31)},
    {{UINT64_C(0xa5d82b05502b1222), UINT64_C(0x2a36ec6c04605b32)},
     17,
     UINT64_C(0x6b36b242774d525a)},
    {{UINT64_C(0xa5d82b05502b1222), UINT64_C(0x2a36ec6c04605b32)},
     256,
     UINT64_C(0x11fcb33ffd8bbe6f)},
};

static void is_siphash_1_3(void **state)
{
    (void)state;
    unsigned char data[257];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        wb__hash_key key = {{vectors[i].key[0], vectors[i].key[1]}};
        if (wb__siphash(&key, data, vectors[i].n) != vectors[i].hash)
            fail_msg("vector %zu\n", i);
        /* The hash must not depend on the alignment of the bytes. */
        unsigned char moved[260];
        memcpy(moved + 3, data, vectors[i].n);
        assert_true(wb__siphash(&key, moved + 3, vectors[i].n) == vectors[i].hash);
    }
}

static void takes_nothing(void **state)
{
    (void)state;
    wb__hash_key key = {{1, 2}}, other = {{1, 3}};
    assert_true(wb__siphash(&key, NULL, 0) == wb__siphash(&key, "x", 0));
    assert_true(wb__siphash(&key, NULL, 0) != wb__siphash(&other, NULL, 0));
}

static void keys_differ(void **state)
{
    (void)state;
    wb__hash_key a = wb__hash_key_draw(), b = wb__hash_key_draw();
    assert_true(a.word[0] != b.word[0] || a.word[1] != b.word[1]);
    assert_true((a.word[0] | a.word[1]) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_siphash_1_3),
                                       cmocka_unit_test(takes_nothing),
                                       cmocka_unit_test(keys_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
