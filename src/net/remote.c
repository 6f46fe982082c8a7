#include "net/remote.h"

void wb__remote_init(wb__remote *remote, wb_net *net, wb__url *url)
{
    *remote = (wb__remote){.net = net, .url = *url};
    url->text = NULL;
}

void wb__remote_free(wb__remote *remote)
{
    wb__url_free(&remote->url);
    wb__url_free(&remote->content);
}

void wb__remote_set_size(wb__remote *remote, uint64_t size)
{
    remote->size = size;
    remote->size_known = true;
}

bool wb__remote_address(const wb__remote *remote, wb__url *url, bool *is_content)
{
    *is_content = remote->content.text != NULL;
    if (*is_content)
        return wb__url_copy(url, &remote->content);
    if (remote->s3 != NULL)
        return wb__s3_presign(remote->s3, &remote->url, url);
    return wb__url_copy(url, &remote->url);
}

void wb__remote_set_content(wb__remote *remote, wb__url *url)
{
    wb__url_free(&remote->content);
    remote->content = *url;
    url->text = NULL;
    remote->generation++;
}

void wb__remote_expire(wb__remote *remote, unsigned generation)
{
    if (remote->generation != generation || remote->content.text == NULL)
        return;
    /* Another host may have another ETag for the same file. */
    if (!wb__url_same_origin(&remote->url, &remote->content))
        remote->etag[0] = '\0';
    wb__url_free(&remote->content);
    remote->generation++;
}
