/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The netlink transport: one kept socket for each protocol, one request at a time, the whole reply
 * collected before anybody sees it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "host/door.h"
#include "host/netlink_reply.h"

/* The kernel fills dump datagrams up to 32 KiB (netlink_dump(), net/netlink/af_netlink.c) when the
 * reader has room; one message may be larger (links with many VFs), then the buffer grows. */
#define DATAGRAM_SIZE (64u << 10)
#define DATAGRAM_MAX (4u << 20)
#define SOCKET_BUFFER (1 << 20)
#define TIME_LIMIT_MS 2000
#define DUMP_TRIES 5

struct netlink_socket {
	struct mnl_socket *mnl;
	uint32_t seq;
	uint8_t *buffer;
	size_t buffer_size;
};

static const struct {
	int protocol;
	const char *name;
} protocols[HOST_NETLINK_PROTOCOLS] = {
	{ NETLINK_ROUTE, "route" },
	{ NETLINK_GENERIC, "generic" },
	{ NETLINK_RDMA, "rdma" },
};

struct netlink_question {
	size_t index;		/* into protocols[] */
	const struct nlmsghdr *request;
};

void netlink_socket_free(struct netlink_socket *s)
{
	if (!s)
		return;
	if (s->mnl)
		mnl_socket_close(s->mnl);
	free(s->buffer);
	free(s);
}

/* socket(AF_NETLINK, …, NETLINK_RDMA) makes the kernel load ib_core (its net-pf-16-proto-20 alias).
 * A look at a machine must not change it, so without the module's class no socket is asked for. */
static bool rdma_present(struct host *host)
{
	int fd = path_open(host, "/sys/class/infiniband", O_PATH);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int socket_open(struct host *host, size_t index, struct error *err)
{
	int protocol = protocols[index].protocol, on = 1, size = SOCKET_BUFFER;

	if (host->netlink[index])
		return 0;
	if (protocol == NETLINK_RDMA && !rdma_present(host))
		return error_set(err, -EPROTONOSUPPORT, "no NETLINK_RDMA: ib_core is not loaded");

	struct mnl_socket *mnl = mnl_socket_open2(protocol, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!mnl)
		return error_set_errno(err, -errno, "netlink socket (%s)", protocols[index].name);
	if (mnl_socket_bind(mnl, 0, MNL_SOCKET_AUTOPID) < 0) {
		int code = -errno;

		mnl_socket_close(mnl);
		return error_set_errno(err, code, "bind of the netlink socket (%s)",
				       protocols[index].name);
	}
	/* All four only improve what is told; kernels before 4.12 (extack) and 4.20 (strict) lack
	 * them. Strict checking makes the kernel filter dumps by the request's header, and refuse
	 * what it does not understand instead of passing over it. */
	mnl_socket_setsockopt(mnl, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(mnl, NETLINK_CAP_ACK, &on, sizeof(on));
	if (protocol == NETLINK_ROUTE)
		mnl_socket_setsockopt(mnl, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	setsockopt(mnl_socket_get_fd(mnl), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));

	struct netlink_socket *s = xcalloc(1, sizeof(*s));
	s->mnl = mnl;
	s->buffer_size = DATAGRAM_SIZE;
	s->buffer = xmalloc(s->buffer_size);
	host->netlink[index] = s;
	return 0;
}

/* Wait for a datagram until `deadline_ms`. */
static int wait_readable(int fd, int64_t deadline_ms, struct error *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		int64_t left = deadline_ms - clock_now_ms();
		int n = left > 0 ? poll(&p, 1, (int)left) : 0;

		if (n > 0)
			return 0;
		if (n == 0)
			return error_set(err, -ETIMEDOUT, "the kernel did not answer within %d ms",
					 TIME_LIMIT_MS);
		if (errno != EINTR)
			return error_set_errno(err, -errno, "poll of the netlink socket");
	}
}

/* One datagram from the kernel into s->buffer; its length, 0 for one that is not the kernel's. */
static ssize_t receive(struct netlink_socket *s, int64_t deadline_ms, struct error *err)
{
	int fd = mnl_socket_get_fd(s->mnl);
	struct sockaddr_nl from;
	struct iovec iov;
	struct msghdr msg;
	int flags = MSG_PEEK | MSG_TRUNC;

	for (;;) {
		iov = (struct iovec){ .iov_base = s->buffer, .iov_len = s->buffer_size };
		msg = (struct msghdr){ .msg_name = &from, .msg_namelen = sizeof(from),
				       .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n = recvmsg(fd, &msg, flags);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			int rc = wait_readable(fd, deadline_ms, err);

			if (rc < 0)
				return rc;
			continue;
		}
		if (n < 0)
			return error_set_errno(err, -errno, "netlink socket");
		if ((size_t)n > DATAGRAM_MAX)
			return error_set_errno(err, -EMSGSIZE, "netlink datagram of %zd bytes", n);
		if ((size_t)n > s->buffer_size) {
			s->buffer_size = (size_t)n;
			s->buffer = xreallocarray(s->buffer, s->buffer_size, 1);
			continue;
		}
		if (flags) { /* its size is known to fit: take it off the queue */
			flags = 0;
			continue;
		}
		if (msg.msg_flags & MSG_TRUNC)
			return error_set(err, -EMSGSIZE, "a netlink datagram was cut off");
		return msg.msg_namelen == sizeof(from) && from.nl_pid == 0 ? n : 0;
	}
}

/* One try: send, collect. Returns as netlink_reply_add(), 0 when complete. */
static int ask_once(struct netlink_socket *s, struct nlmsghdr *request, struct netlink_reply *reply,
		    struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + TIME_LIMIT_MS;

	netlink_reply_clear(reply);
	reply->seq = request->nlmsg_seq = ++s->seq;
	reply->portid = mnl_socket_get_portid(s->mnl);
	request->nlmsg_pid = 0;
	if (mnl_socket_sendto(s->mnl, request, request->nlmsg_len) < 0)
		return error_set_errno(err, -errno, "netlink send");
	for (;;) {
		ssize_t n = receive(s, deadline_ms, err);

		if (n < 0)
			return (int)n;
		int rc = netlink_reply_add(reply, s->buffer, (size_t)n, err);
		if (rc)
			return rc < 0 ? rc : 0;
	}
}

static int netlink_live(struct host *host, const void *question, json_t **answer, struct error *err)
{
	const struct netlink_question *q = question;
	_cleanup_free_ struct nlmsghdr *request = xmalloc(q->request->nlmsg_len);
	struct netlink_reply reply = {0};
	int rc = socket_open(host, q->index, err);

	if (rc < 0)
		return rc;
	memcpy(request, q->request, q->request->nlmsg_len);
	request->nlmsg_flags |= NLM_F_REQUEST;
	reply.dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	/* a dump ends with NLMSG_DONE; anything else ends with the ACK that is asked for here */
	if (!reply.dump)
		request->nlmsg_flags |= NLM_F_ACK;

	/* only a dump is repeated: another request may have been carried out already */
	for (int i = 0; i < DUMP_TRIES; i++) {
		rc = ask_once(host->netlink[q->index], request, &reply, err);
		if (!reply.dump || (rc != -EINTR && rc != -ENOBUFS))
			break;
	}
	if (rc < 0)
		error_wrap(err, "%s netlink request %u", protocols[q->index].name,
			   request->nlmsg_type);
	if (rc == -ENOBUFS || rc == -ETIMEDOUT || rc == -EMSGSIZE || rc == -EBADMSG) {
		/* left-overs may be in the queue: the next request gets a new socket */
		netlink_socket_free(host->netlink[q->index]);
		host->netlink[q->index] = NULL;
	}
	if (rc == 0) {
		_cleanup_free_ char *text = base64_encode(strbuf_str(&reply.messages),
							  reply.messages.len);

		*answer = door_answer_new("messages", json_string(text));
	}
	netlink_reply_clear(&reply);
	return rc;
}

/* "route:BASE64" of the request, with what changes from run to run zeroed. */
static char *question_key(size_t index, const struct nlmsghdr *request)
{
	_cleanup_free_ struct nlmsghdr *copy = xmalloc(request->nlmsg_len);

	memcpy(copy, request, request->nlmsg_len);
	copy->nlmsg_seq = 0;
	copy->nlmsg_pid = 0;
	_cleanup_free_ char *text = base64_encode(copy, request->nlmsg_len);
	return xasprintf("%s:%s", protocols[index].name, text);
}

int host_netlink(struct host *host, int protocol, struct nlmsghdr *request, host_netlink_cb cb,
		 void *data, struct error *err)
{
	struct netlink_question q = { .request = request };
	_cleanup_json_ json_t *answer = NULL;
	_cleanup_free_ char *messages = NULL;
	size_t len;

	while (q.index < HOST_NETLINK_PROTOCOLS && protocols[q.index].protocol != protocol)
		q.index++;
	if (q.index == HOST_NETLINK_PROTOCOLS || request->nlmsg_len < NLMSG_HDRLEN ||
	    request->nlmsg_len > HOST_NETLINK_REQUEST_MAX)
		return error_set_errno(err, -EINVAL, "netlink request of %u bytes for protocol %d",
				       request->nlmsg_len, protocol);

	_cleanup_free_ char *key = question_key(q.index, request);
	int rc = door_ask(host, "netlink", key, false, netlink_live, &q, &answer, err);
	if (rc < 0)
		return rc;
	json_t *text = json_object_get(answer, "messages");
	if (!json_is_string(text) ||
	    base64_decode(json_string_value(text), json_string_length(text), &messages, &len) < 0)
		return door_malformed("netlink", err);
	return netlink_messages_walk(messages, len, cb, data, err);
}

static int family_attr_cb(const struct nlattr *attr, void *data)
{
	uint16_t *id = data;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
	    mnl_attr_validate(attr, MNL_TYPE_U16) >= 0)
		*id = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int family_id_cb(const struct nlmsghdr *nlh, void *data)
{
	if (nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return -EBADMSG;
	mnl_attr_parse(nlh, GENL_HDRLEN, family_attr_cb, data);
	return 0;
}

int host_genl_family(struct host *host, const char *name, struct error *err)
{
	_Alignas(struct nlmsghdr) char buf[256] = {0};
	json_t *cached = json_object_get(host->genl_families, name);
	uint16_t id = 0;

	if (strlen(name) >= GENL_NAMSIZ)
		return error_set_errno(err, -EINVAL, "generic netlink family \"%s\"", name);
	if (!cached) {
		struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
		struct genlmsghdr *genl;

		nlh->nlmsg_type = GENL_ID_CTRL;
		nlh->nlmsg_flags = NLM_F_REQUEST;
		genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
		genl->cmd = CTRL_CMD_GETFAMILY;
		genl->version = 1;
		mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);

		int rc = host_netlink(host, NETLINK_GENERIC, nlh, family_id_cb, &id, err);
		if (rc < 0 && rc != -ENOENT)
			return rc;
		json_put_int(host->genl_families, name, rc < 0 ? rc : id);
		cached = json_object_get(host->genl_families, name);
	}
	int value = (int)json_integer_value(cached);
	if (value <= 0)
		return error_set(err, -ENOENT, "the kernel has no generic netlink family \"%s\"",
				 name);
	return value;
}
