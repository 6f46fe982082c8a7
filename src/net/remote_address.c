#include "net/remote_address.h"

#include "net/trust.h"

wb_status wb__fail_address(wb__context *context, const char *fault)
{
    if (fault == wb__url_memory)
        return wb__fail_memory(context);
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_ADDRESS, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_ADDRESS, fault);
}

wb_status wb__check_scheme(const wb_net *net, wb__context *context, const wb__url *url)
{
    bool plain = (net->options.flags & WB_NET_PLAIN_HTTP) != 0;
    return wb__trust_scheme(&net->settings, url, plain)
               ? WB_OK
               : wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_PLAIN_HTTP, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_NET_PLAIN_HTTP);
}

wb_status wb__address_read(wb_net *net, wb__context *context, wb__arena *arena, const char *path,
                           wb__address *address)
{
    wb__address page;
    bool is_page = false;
    const char *fault = wb__address_parse(address, arena, path);
    if (fault == NULL && address->kind == WB__ADDRESS_WEB) {
        fault = wb__address_of_page(&page, arena, path, net->settings.endpoint_text, &is_page);
        if (is_page)
            *address = page;
    }
    return fault == NULL ? WB_OK : wb__fail_address(context, fault);
}

/* Reads the settings of AWS at the first call. Sets *s3 to the credentials for S3 or, if `google`
 * is true, for Google Cloud Storage, whose HMAC keys are in the same settings. */
static wb_status find_s3(wb_net *net, wb__context *context, bool google, const wb__s3 **s3)
{
    wb__environment environment = wb__process_environment();
    wb_status status = WB_OK;
    wb__net_lock(net);
    if (!net->aws_is_read)
        status = wb__settings_read_aws(&net->settings, context, &environment);
    net->aws_is_read = net->aws_is_read || status == WB_OK;
    const wb__settings *settings = &net->settings;
    const char *region = settings->aws_region != NULL ? settings->aws_region
                         : google                     ? "auto"
                                                      : "us-east-1";
    wb__s3 *own = &net->s3[google];
    if (status == WB_OK && own->region == NULL)
        *own = (wb__s3){.key = settings->aws_key,
                        .secret = settings->aws_secret,
                        .token = settings->aws_token,
                        .region = region};
    wb__net_unlock(net);
    *s3 = own;
    return status;
}

wb_status wb__object_url(wb_net *net, wb__context *context, const wb__address *address,
                         const char *query, const wb__s3 **s3, wb__url *url)
{
    bool google = address->kind == WB__ADDRESS_GS;
    *url = (wb__url){.allocator = net->allocator};
    wb_status status = find_s3(net, context, google, s3);
    if (status != WB_OK)
        return status;
    const char *endpoint = net->settings.aws_endpoint;
    if (endpoint == NULL && google)
        endpoint = "https://storage.googleapis.com";
    const char *fault = wb__s3_url(url, &net->allocator, endpoint, (*s3)->region, address->repo,
                                   query == NULL ? address->path : "", query);
    return fault == NULL ? WB_OK : wb__fail_address(context, fault);
}
