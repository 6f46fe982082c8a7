/* The messages for replies with an error status and for exchanges that did not complete. */
#include "net/fetch.h"

#include "net/listing.h"
#include "net/trust.h"

typedef struct reason {
    unsigned status;  /* 0: any */
    const char *code; /* header field X-Error-Code, sent by hubs; NULL: any */
    wb_status result;
    wb__finding_id finding;
    const char *message;
} reason;

/* The first row with the status and the code of the response determines the error. A row with
 * status 0 matches every status, and a row with the code NULL matches every code. */
static const reason reasons[] = {
    {401, "RepoNotFound", WB_ERROR_NOT_FOUND, WB__FINDING_NET_REPOSITORY, WB__MSG_NET_REPOSITORY},
    {404, "RepoNotFound", WB_ERROR_NOT_FOUND, WB__FINDING_NET_REPOSITORY, WB__MSG_NET_REPOSITORY},
    {0, "GatedRepo", WB_ERROR_IO, WB__FINDING_NET_GATED, WB__MSG_NET_GATED},
    {404, "RevisionNotFound", WB_ERROR_NOT_FOUND, WB__FINDING_NET_NOT_FOUND, WB__MSG_NET_REVISION},
    {404, "EntryNotFound", WB_ERROR_NOT_FOUND, WB__FINDING_NET_NOT_FOUND, WB__MSG_NET_ENTRY},
    {401, NULL, WB_ERROR_IO, WB__FINDING_NET_DENIED, WB__MSG_NET_DENIED},
    {403, NULL, WB_ERROR_IO, WB__FINDING_NET_DENIED, WB__MSG_NET_DENIED},
    {404, NULL, WB_ERROR_NOT_FOUND, WB__FINDING_NET_NOT_FOUND, WB__MSG_NET_NOT_FOUND},
    {410, NULL, WB_ERROR_NOT_FOUND, WB__FINDING_NET_NOT_FOUND, WB__MSG_NET_NOT_FOUND},
    {429, NULL, WB_ERROR_IO, WB__FINDING_NET_RATE, WB__MSG_NET_RATE},
    {0, NULL, WB_ERROR_IO, WB__FINDING_NET_STATUS, WB__MSG_NET_STATUS},
};

static const reason *find_reason(const wb__response *response)
{
    const char *code = wb__response_get(response, WB__FIELD_ERROR_CODE);
    const reason *row = reasons;
    while ((row->status != 0 && row->status != response->status) ||
           (row->code != NULL && (code == NULL || strcmp(code, row->code) != 0)))
        row++;
    return row;
}

/* Adds what the server says to the message, if it says anything. */
static void add_words(const wb_net *net, wb__context *context, const wb__response *response,
                      wb__str reply)
{
    char words[256] = "";
    const char *field = wb__response_get(response, WB__FIELD_ERROR_MESSAGE);
    if (field != NULL)
        wb__printable(words, sizeof words, wb__str_from(field, SIZE_MAX));
    else if (reply.len > 0 && reply.ptr[0] == '{')
        wb__read_error(&net->allocator, reply.ptr, reply.len, words, sizeof words);
    char *message = context->error->message;
    size_t used = strlen(message), room = sizeof context->error->message - used;
    if (words[0] == '\0' || strlen(words) + 20 > room)
        return;
    memcpy(message + used, "; it says: ", 11);
    memcpy(message + used + 11, words, strlen(words) + 1);
}

wb_status wb__fail_reply(const wb_net *net, wb__context *context, const wb__url *url,
                         const wb__response *response, wb__str reply)
{
    char host[128];
    const reason *row = find_reason(response);
    bool has_token = wb__trust_token(&net->settings, url);
    wb__printable(host, sizeof host, wb__url_origin(url));
    (void)wb__fail(context, row->result, row->finding, WB_NO_OFFSET, WB__STR(""), row->message,
                   host, response->status, has_token ? net->settings.token_source : "none");
    add_words(net, context, response, reply);
    return row->result;
}

/* ---- exchanges ---- */

typedef struct fault {
    wb__outcome outcome;
    wb__finding_id finding;
    const char *message; /* format; arguments: the host, libcurl's description */
} fault;

static const fault faults[] = {
    {WB__OUTCOME_RESOLVE, WB__FINDING_NET_CONNECTION, WB__MSG_NET_RESOLVE},
    {WB__OUTCOME_CONNECT, WB__FINDING_NET_CONNECTION, WB__MSG_NET_CONNECT},
    {WB__OUTCOME_CERTIFICATE, WB__FINDING_NET_CERTIFICATE, WB__MSG_NET_CERTIFICATE},
    {WB__OUTCOME_TLS, WB__FINDING_NET_CONNECTION, WB__MSG_NET_TLS},
    {WB__OUTCOME_TIMEOUT, WB__FINDING_NET_CONNECTION, WB__MSG_NET_TIMEOUT},
    {WB__OUTCOME_CUT, WB__FINDING_NET_CONNECTION, WB__MSG_NET_CUT},
    {WB__OUTCOME_PROTOCOL, WB__FINDING_NET_REPLY, WB__MSG_NET_PROTOCOL},
};

wb_status wb__fail_exchange(wb__context *context, const wb__url *url, const wb__exchange *exchange)
{
    char host[128], detail[256];
    if (exchange->outcome == WB__OUTCOME_MEMORY)
        return wb__fail_memory(context);
    wb__printable(host, sizeof host, wb__url_origin(url));
    wb__printable(detail, sizeof detail, wb__str_from(exchange->detail, SIZE_MAX));
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (faults[i].outcome != exchange->outcome)
            continue;
        (void)wb__fail(context, WB_ERROR_IO, faults[i].finding, WB_NO_OFFSET, WB__STR(""),
                       faults[i].message, host, detail);
        context->error->os_error = exchange->os_error;
        return WB_ERROR_IO;
    }
    return wb__fail(context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_CANCELLED, host);
}
