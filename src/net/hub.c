#include "net/hub.h"

#include "net/fetch.h"
#include "net/hub_cache.h"
#include "net/names.h"
#include "net/percent.h"

#define INFO_MAX ((size_t)64 << 20)

void wb__hub_api(wb__buffer *out, const wb_net *net, const wb__address *address)
{
    wb__buffer_text(out, net->settings.endpoint_text);
    wb__buffer_text(out, "/api/");
    wb__buffer_text(out, wb__repo_plural(address->type));
    wb__buffer_text(out, "/");
    wb__buffer_text(out, address->repo);
}

const char *wb__repo_url(const wb__repo *repo, const wb_net *net, const char *path, wb__url *url)
{
    wb__buffer text = {.allocator = &net->allocator, .ceiling = WB__URL_MAX};
    wb__buffer_text(&text, net->settings.endpoint_text);
    wb__buffer_text(&text, "/");
    wb__buffer_text(&text, wb__repo_prefix(repo->address.type));
    wb__buffer_text(&text, repo->address.repo);
    wb__buffer_text(&text, "/resolve/");
    wb__buffer_text(&text, repo->commit);
    wb__buffer_text(&text, "/");
    wb__percent_add(&text, wb__str_from(path, SIZE_MAX), true);
    return wb__url_parse_buffer(url, &text);
}

/* ---- the commit ---- */

static wb_status ask_commit(wb_net *net, wb__context *context, wb__repo *repo)
{
    wb__fetch fetch;
    wb__buffer url = {.allocator = &net->allocator, .ceiling = WB__URL_MAX};
    wb__hub_api(&url, net, &repo->address);
    wb__buffer_text(&url, "/revision/");
    wb__percent_add(&url, wb__str_from(repo->address.revision, SIZE_MAX), false);
    wb__buffer_add(&url, "", 1);
    if (wb__buffer_failed(&url)) {
        wb__buffer_free(&url);
        return wb__fail_memory(context);
    }
    wb_status status = wb__fetch_begin(&fetch, net, context, (const char *)url.bytes, INFO_MAX);
    if (status == WB_OK)
        status = wb__fetch_run_ok(&fetch, net, context);
    if (status == WB_OK)
        status =
            wb__read_commit(context, (const char *)fetch.reply.bytes, fetch.reply.n, repo->commit);
    wb__fetch_free(&fetch);
    wb__buffer_free(&url);
    return status;
}

static wb_status fail_offline(wb__context *context, const wb__repo *repo)
{
    return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_OFFLINE, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_NOT_CACHED, repo->address.repo, repo->address.revision);
}

static wb_status find_commit(wb_net *net, wb__context *context, wb__repo *repo)
{
    const char *revision = repo->address.revision;
    if (wb__is_commit(revision)) {
        memcpy(repo->commit, revision, sizeof repo->commit);
        return WB_OK;
    }
    if (!net->settings.offline)
        return ask_commit(net, context, repo);
    wb_status status = wb__hub_cache_read_ref(net, context, &repo->address, repo->commit);
    return status == WB_OK && repo->commit[0] == '\0' ? fail_offline(context, repo) : status;
}

/* ---- the files ---- */

/* Copies the target of `Link: <…>; rel="next"` to *next, which is empty at the last page. */
static wb_status next_page(const wb__fetch *fetch, wb__context *context, wb__buffer *next)
{
    wb__url url;
    const char *link = wb__response_get(&fetch->response, WB__FIELD_LINK);
    wb__str target = link == NULL ? WB__STR("") : wb__parse_link(link, "next");
    if (target.len == 0) {
        next->n = 0;
        return WB_OK;
    }
    const char *fault = wb__url_resolve(&url, &fetch->url, target);
    bool same =
        fault == NULL && next->n == url.len + 1 && memcmp(next->bytes, url.text, url.len) == 0;
    next->n = 0;
    if (fault == NULL)
        wb__buffer_add(next, url.text, url.len + 1);
    wb__url_free(&url);
    if (fault == wb__url_memory || next->out_of_memory)
        return wb__fail_memory(context);
    if (fault == NULL && !same)
        return WB_OK;
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_NET_REPLY, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_NEXT_PAGE, fault != NULL ? fault : "it is the same page");
}

static wb_status ask_page(wb_net *net, wb__context *context, wb__repo *repo, wb__buffer *url)
{
    wb__fetch fetch;
    wb_status status =
        wb__fetch_begin(&fetch, net, context, (const char *)url->bytes, WB__LISTING_PAGE);
    if (status == WB_OK)
        status = wb__fetch_run_ok(&fetch, net, context);
    if (status == WB_OK)
        status = wb__listing_add_page(&repo->listing, context, (const char *)fetch.reply.bytes,
                                      fetch.reply.n);
    if (status == WB_OK)
        status = next_page(&fetch, context, url);
    wb__fetch_free(&fetch);
    return status;
}

static wb_status ask_listing(wb_net *net, wb__context *context, wb__repo *repo)
{
    wb__buffer url = {.allocator = &net->allocator, .ceiling = WB__URL_MAX};
    wb_status status = WB_OK;
    unsigned pages = 0;
    wb__hub_api(&url, net, &repo->address);
    wb__buffer_text(&url, "/tree/");
    wb__buffer_text(&url, repo->commit);
    wb__buffer_text(&url, "?recursive=true&expand=false");
    wb__buffer_add(&url, "", 1);
    if (wb__buffer_failed(&url))
        status = wb__fail_memory(context);
    while (status == WB_OK && url.n > 0 && pages++ < WB__LISTING_PAGES)
        status = ask_page(net, context, repo, &url);
    if (status == WB_OK && url.n > 0)
        status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_NET_REPLY, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_NET_NEXT_PAGE, "there are more than 10,000 pages");
    wb__buffer_free(&url);
    return status;
}

static wb_status find_listing(wb_net *net, wb__context *context, wb__repo *repo)
{
    bool found;
    wb_status status = wb__hub_cache_read_tree(net, context, repo, &found);
    if (status != WB_OK || found)
        return status;
    if (net->settings.offline)
        return fail_offline(context, repo);
    status = ask_listing(net, context, repo);
    return status == WB_OK ? wb__listing_finish(&repo->listing, context) : status;
}

/* ---- repositories ---- */

static const char *keep(wb__repo *repo, const char *text)
{
    return wb__arena_copy(&repo->arena, text, strlen(text));
}

wb_status wb__repo_open(wb_net *net, wb__context *context, const wb__address *address,
                        wb__repo **out)
{
    wb__repo *repo = wb__alloc_zeroed(&net->allocator, sizeof *repo);
    *out = NULL;
    if (repo == NULL)
        return wb__fail_memory(context);
    repo->allocator = &net->allocator;
    repo->arena.allocator = repo->allocator;
    wb__listing_init(&repo->listing, repo->allocator);
    repo->address = (wb__address){.kind = WB__ADDRESS_HUB,
                                  .type = address->type,
                                  .repo = keep(repo, address->repo),
                                  .revision = keep(repo, address->revision),
                                  .path = ""};
    wb_status status = repo->address.repo == NULL || repo->address.revision == NULL
                           ? wb__fail_memory(context)
                           : find_commit(net, context, repo);
    if (status == WB_OK)
        status = find_listing(net, context, repo);
    if (status == WB_OK)
        *out = repo;
    else
        wb__repo_free(repo);
    return status;
}

void wb__repo_free(wb__repo *repo)
{
    if (repo == NULL)
        return;
    const wb_allocator *allocator = repo->allocator;
    wb__listing_free(&repo->listing);
    wb__arena_free(&repo->arena);
    wb__free(allocator, repo, sizeof *repo);
}

static const wb__repo *find_shared(wb_net *net, const wb__address *address)
{
    wb__net_lock(net);
    wb__repo *repo = net->repos;
    while (repo != NULL &&
           (repo->address.type != address->type || strcmp(repo->address.repo, address->repo) != 0 ||
            strcmp(repo->address.revision, address->revision) != 0))
        repo = repo->next;
    wb__net_unlock(net);
    return repo;
}

wb_status wb__repo_share(wb_net *net, wb__context *context, const wb__address *address,
                         const wb__repo **repo)
{
    wb__repo *made;
    *repo = find_shared(net, address);
    if (*repo != NULL)
        return WB_OK;
    wb_status status = wb__repo_open(net, context, address, &made);
    if (status != WB_OK)
        return status;
    wb__net_lock(net); /* another thread may have added the same repository, which does no harm */
    made->next = net->repos;
    net->repos = made;
    wb__net_unlock(net);
    *repo = made;
    return WB_OK;
}

void wb__repos_free(wb_net *net)
{
    while (net->repos != NULL) {
        wb__repo *next = net->repos->next;
        wb__repo_free(net->repos);
        net->repos = next;
    }
}
