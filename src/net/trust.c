#include "net/trust.h"

bool wb__trust_token(const wb__settings *settings, const wb__url *url)
{
    return settings->token != NULL && wb__url_same_origin(&settings->endpoint, url);
}

void wb__trust_add_token(wb__buffer *fields, const wb__settings *settings, const wb__url *url)
{
    if (!wb__trust_token(settings, url))
        return;
    wb__buffer_text(fields, "Authorization: Bearer ");
    wb__buffer_text(fields, settings->token);
    wb__buffer_add(fields, "", 1);
}

bool wb__trust_scheme(const wb__settings *settings, const wb__url *url, bool plain_http)
{
    const wb__url *endpoint = &settings->endpoint;
    return url->secure || plain_http || wb__url_is_loopback(url) ||
           (!endpoint->secure && wb__str_equal(wb__url_host(endpoint), wb__url_host(url)));
}

const char *wb__trust_redirect(const wb__settings *settings, const wb__url *from,
                               const char *location, bool plain_http, wb__url *target)
{
    const char *fault = wb__url_resolve(target, from, wb__str_from(location, SIZE_MAX));
    if (fault != NULL)
        return fault;
    if (from->secure && !target->secure)
        return "it leads from https to http";
    return wb__trust_scheme(settings, target, plain_http)
               ? NULL
               : "it leads to http, which anyone on the way can read and change";
}
