/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a recording: once to learn which names there are, once to replace them. Each string
 * goes through the text scanner, netlink goes through its tables, other bytes are searched for what
 * was learnt.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "host/anonymize.h"
#include "host/anonymize_netlink.h"
#include "host/anonymize_text.h"

struct pass {
	struct pseudonyms *p;
	json_t *families;
};

static json_t *checked(json_t *value)
{
	if (!value)
		alloc_exhausted();
	return value;
}

/* The last component of a path, without what follows a newline (the needles of a question). */
static char *leaf_new(const char *key)
{
	size_t len = strcspn(key, "\n");
	const char *slash = memrchr(key, '/', len);
	const char *leaf = slash ? slash + 1 : key;

	return xstrndup(leaf, len - (size_t)(leaf - key));
}

/* Members and files that hold a version: four numbers with dots in them are no address. */
static bool names_version(const char *leaf)
{
	static const char *const words[] = { "version", "firmware", "fw_ver", "bios_", "vermagic" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(leaf, words[i]))
			return true;
	return false;
}

static bool names_serial(const char *leaf)
{
	return strstr(leaf, "serial") != NULL || text_ends_with(leaf, "_tag");
}

static json_t *text_value(struct pass *pass, const char *key, const char *text)
{
	_cleanup_free_ char *leaf = leaf_new(key);
	_cleanup_free_ char *copy = anonymize_text(pass->p, text, names_version(leaf));

	/* a serial number made from a MAC has been replaced with that MAC; any other text here */
	if (names_serial(leaf) && strcmp(copy, text) == 0)
		pseudonym_text(pass->p, copy, strlen(copy), false);
	return checked(json_string(copy));
}

/* VPD (PCI Local Bus Specification 3.0, appendix I): keyword "SN", one length byte, the number. */
static void hide_vpd_serial(struct pass *pass, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + 3 < len; i++) {
		size_t size = bytes[i + 2];

		if (bytes[i] == 'S' && bytes[i + 1] == 'N' && size && size <= len - i - 3)
			pseudonym_text(pass->p, (char *)bytes + i + 3, size, false);
	}
}

static json_t *bytes_value(struct pass *pass, const char *key, const json_t *value)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len;

	if (door_bytes_get(value, &bytes, &len, NULL) < 0)
		return checked(json_deep_copy(value));
	anonymize_known(pass->p, bytes, len);
	if (text_ends_with(key, "/vpd"))
		hide_vpd_serial(pass, (uint8_t *)bytes, len);
	return door_bytes_new(bytes, len);
}

/* `key` says what the value is: a member's name, or the question for a door's answer. */
static json_t *any_value(struct pass *pass, const char *key, json_t *value)
{
	json_t *copy, *member;
	const char *name;
	size_t i;

	if (json_is_string(value))
		return text_value(pass, key, json_string_value(value));
	if (json_is_array(value)) {
		copy = json_array_new();
		json_array_foreach(value, i, member)
			json_append(copy, any_value(pass, key, member));
		return copy;
	}
	if (!json_is_object(value))
		return checked(json_copy(value));
	if (json_object_size(value) == 1 && json_object_get(value, "base64"))
		return bytes_value(pass, key, value);
	copy = json_object_new();
	json_object_foreach(value, name, member) {
		_cleanup_free_ char *new_name = anonymize_text(pass->p, name, false);
		/* "data" and "target" only say that the answer follows: the question names it */
		bool transparent = strcmp(name, "data") == 0 || strcmp(name, "target") == 0;

		json_put(copy, new_name, any_value(pass, transparent ? key : name, member));
	}
	return copy;
}

/* Base64 of netlink messages, behind `prefix` ("route:"), anonymized. */
static char *netlink_text(struct pass *pass, const char *protocol, const char *text)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len;

	if (base64_decode(text, strlen(text), &bytes, &len) < 0)
		return xstrdup("");
	anonymize_netlink(pass->p, pass->families, protocol, bytes, len);
	return base64_encode(bytes, len);
}

static json_t *netlink_answers(struct pass *pass, const char *protocol, json_t *answers)
{
	json_t *copy = json_array_new(), *answer;
	size_t i;

	json_array_foreach(answers, i, answer) {
		const char *messages = json_get_string(answer, "messages", NULL);
		json_t *new_answer;

		if (messages) {
			_cleanup_free_ char *text = netlink_text(pass, protocol, messages);

			new_answer = json_object_new();
			json_put(new_answer, "messages", checked(json_string(text)));
		} else {
			new_answer = any_value(pass, "netlink", answer);
		}
		json_append(copy, new_answer);
	}
	return copy;
}

static json_t *netlink_door(struct pass *pass, json_t *questions)
{
	json_t *copy = json_object_new(), *answers;
	const char *key;

	json_object_foreach(questions, key, answers) {
		size_t len = strcspn(key, ":");
		_cleanup_free_ char *protocol = xstrndup(key, len);
		_cleanup_free_ char *text =
			netlink_text(pass, protocol, key[len] ? key + len + 1 : "");
		_cleanup_free_ char *new_key = xasprintf("%s:%s", protocol, text);

		json_put(copy, new_key, netlink_answers(pass, protocol, answers));
	}
	return copy;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a),
		      json_string_value(*(json_t *const *)b));
}

/* The replaced names of a directory's answers are put back into the order that host_list()
 * promises. */
static void sort_names(json_t *answers)
{
	json_t *answer, *name;
	size_t i, j;

	json_array_foreach(answers, i, answer) {
		json_t *names = json_object_get(answer, "names");
		size_t n = json_array_size(names);
		bool strings = n > 0;

		json_array_foreach(names, j, name)
			strings = strings && json_is_string(name);
		if (!strings)
			continue;
		_cleanup_free_ json_t **order = xcalloc(n, sizeof(json_t *));
		json_array_foreach(names, j, name)
			order[j] = json_incref(name);
		qsort(order, n, sizeof(*order), compare_texts);
		for (j = 0; j < n; j++)
			if (json_array_set_new(names, j, order[j]) < 0)
				alloc_exhausted();
	}
}

static json_t *plain_door(struct pass *pass, const char *door, json_t *questions)
{
	json_t *copy = json_object_new(), *answers;
	const char *key;

	json_object_foreach(questions, key, answers) {
		_cleanup_free_ char *new_key = anonymize_text(pass->p, key, false);
		json_t *new_answers = any_value(pass, key, answers);

		if (strcmp(door, "list") == 0)
			sort_names(new_answers);
		json_put(copy, new_key, new_answers);
	}
	return copy;
}

static json_t *all_doors(struct pass *pass, json_t *document)
{
	json_t *copy = json_object_new(), *questions;
	const char *door;

	json_object_foreach(document, door, questions)
		json_put(copy, door, strcmp(door, "netlink") == 0 ?
			 netlink_door(pass, questions) : plain_door(pass, door, questions));
	return copy;
}

/* --- host names ------------------------------------------------------------------------------- */

static const char *first_text(json_t *document, const char *door, const char *key,
			      const char *member)
{
	json_t *answers = json_object_get(json_object_get(document, door), key);

	return json_get_string(json_array_get(answers, 0), member, NULL);
}

static void learn_trimmed(struct pseudonyms *p, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text ? text : "");
	char *name = text_trim(copy);

	if (*name)
		pseudonyms_learn_host(p, name);
}

/* /etc/hosts: address, names. Names of loopback and of the IPv6 defaults ("ip6-…") tell nothing. */
static void learn_hosts_file(struct pseudonyms *p, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text ? text : "");
	char *cursor = copy, *line, *word;

	while ((line = text_next_line(&cursor))) {
		line[strcspn(line, "#")] = '\0';
		char *address = text_next_word(&line);

		if (!address || text_starts_with(address, "127.0.0.1") ||
		    strcmp(address, "::1") == 0)
			continue;
		while ((word = text_next_word(&line)))
			if (!text_starts_with(word, "ip6-"))
				pseudonyms_learn_host(p, word);
	}
}

static void learn_hosts(struct pseudonyms *p, json_t *document)
{
	learn_trimmed(p, first_text(document, "uname", "self", "nodename"));
	learn_trimmed(p, first_text(document, "read", "/proc/sys/kernel/hostname", "data"));
	learn_trimmed(p, first_text(document, "read", "/proc/sys/kernel/domainname", "data"));
	learn_trimmed(p, first_text(document, "read", "/etc/hostname", "data"));
	learn_hosts_file(p, first_text(document, "read", "/etc/hosts", "data"));
}

int anonymize_document(json_t **out, json_t *document, struct error *err)
{
	struct pseudonyms p = { .collecting = true };
	_cleanup_json_ json_t *families = json_object_new();
	struct pass pass = { .p = &p, .families = families };

	*out = NULL;
	if (getrandom(p.key, sizeof(p.key), 0) != sizeof(p.key))
		return error_set_errno(err, -errno, "getrandom");
	learn_hosts(&p, document);
	json_decref(all_doors(&pass, document));
	p.collecting = false;
	*out = all_doors(&pass, document);
	pseudonyms_clear(&p);
	return 0;
}
