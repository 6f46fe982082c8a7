/*
 * Parses a URL, a reference that is relative to it (a redirect), and the text as an address of a
 * model. The canonical text of an accepted URL must be accepted again and stay the same. It must
 * have only printable characters. Its text between "://" and the port or path must be the host to
 * which a token is bound. Accepted paths must stay inside their repository.
 */
#include "net/address.h"
#include "net/names.h"
#include "net/settings.h"
#include "net/trust.h"
#include "net/url.h"
#include "support/fuzz.h"
#include "support/model.h"

static void check_url(const wb__url *url, const wb_allocator *allocator)
{
    wb__url again;
    wb__str text = {url->text, url->len}, host = wb__url_host(url), path = wb__url_path(url);
    CHECK(strlen(url->text) == url->len);
    for (size_t i = 0; i < url->len; i++)
        CHECK(url->text[i] > ' ' && url->text[i] < 0x7F);
    CHECK(wb__str_starts_with(text, url->secure ? WB__STR("https://") : WB__STR("http://")));
    size_t begin = url->secure ? 8 : 7, end = url->host + url->host_len;
    bool brackets = url->text[begin] == '[';
    CHECK(url->host == begin + brackets && host.len > 0);
    CHECK(!brackets || url->text[end++] == ']');
    CHECK(url->text[end] == ':' || url->text[end] == '/');
    CHECK(memchr(url->text, '@', url->path) == NULL);
    CHECK(path.len > 0 && path.ptr[0] == '/' && url->port > 0 && url->port <= 65535);
    CHECK(wb__str_find(path, WB__STR("/../")) == SIZE_MAX);
    CHECK(wb__url_parse(&again, allocator, text) == NULL);
    CHECK(again.len == url->len && memcmp(again.text, url->text, url->len) == 0);
    CHECK(again.port == url->port && again.host == url->host && again.path == url->path);
    CHECK(wb__url_same_origin(&again, url));
    wb__url_free(&again);
}

/* Checks that the token is sent only to the endpoint, whatever target a redirect has. */
static void check_redirect(const wb__settings *settings, const wb__url *from, const char *location)
{
    static const char endpoint[] = "https://hub.example:8443/";
    wb__url target;
    const char *fault = wb__trust_redirect(settings, from, location, false, &target);
    if (fault == NULL) {
        check_url(&target, &from->allocator);
        CHECK(target.secure || !from->secure);
        CHECK(target.secure || wb__url_is_loopback(&target));
        CHECK(wb__trust_token(settings, &target) ==
              (strncmp(target.text, endpoint, sizeof endpoint - 1) == 0));
    }
    wb__url_free(&target);
}

static void check_address(const wb_allocator *allocator, const char *text)
{
    wb__arena arena = {.allocator = allocator};
    wb__address address;
    const char *fault = wb__address_parse(&address, &arena, text);
    CHECK(fault != NULL || address.kind == wb__address_kind_of(text));
    if (fault == NULL && address.kind == WB__ADDRESS_HUB) {
        wb__str path = wb__str_from(address.path, SIZE_MAX);
        CHECK(wb__repo_fault(wb__str_from(address.repo, SIZE_MAX)) == NULL);
        CHECK(wb__revision_fault(address.revision) == NULL);
        CHECK(path.len == 0 || wb__path_fault(path) == NULL);
    }
    wb__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_heap heap = {0};
    wb_allocator allocator = fuzz_allocator(&heap);
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    wb__url url;
    wb__settings settings = {.token = "secret"};
    CHECK(wb__url_parse(&settings.endpoint, &allocator, WB__STR("https://hub.example:8443")) ==
          NULL);
    char *location = strchr(text, '\n'); /* end of the URL; the target of a redirect follows */
    size_t n = location == NULL ? size : (size_t)(location - text);
    if (wb__url_parse(&url, &allocator, (wb__str){text, n}) == NULL) {
        check_url(&url, &allocator);
        if (location != NULL)
            check_redirect(&settings, &url, location + 1);
    }
    wb__url_free(&url);
    wb__url_free(&settings.endpoint);
    check_address(&allocator, text);
    CHECK(heap.live == 0);
    CHECK(heap.peak <= 8 * size + (1u << 20));
    free(text);
    return 0;
}
