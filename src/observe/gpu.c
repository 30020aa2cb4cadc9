/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs as their driver shows them: /gpu. */
#include "observe/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "observe/pci_place.h"

/* NVML's start takes about a second when no persistence daemon keeps eight GPUs initialized. */
#define NVML_TIMEOUT_MS 5000

#define PROC "/proc/driver/nvidia"

/* --- text of the driver ----------------------------------------------------------------------- */

/* The driver's number in the NVRM line: the first word of digits and points, "580.82.07". */
static void put_version(json_t *driver, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	char *cursor = copy, *word;

	while ((word = text_next_word(&cursor))) {
		if (isdigit((unsigned char)*word) && strchr(word, '.') &&
		    word[strspn(word, "0123456789.")] == '\0') {
			json_put_string(driver, "version", word);
			return;
		}
	}
}

int nvidia_version_parse(json_t *driver, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *cursor = copy, *line;

	while ((line = text_next_line(&cursor))) {
		if (!text_starts_with(line, "NVRM version:"))
			continue;
		json_put_string(driver, "text", text_trim(line));
		put_version(driver, line);
		json_put_bool(driver, "open", strstr(line, "Open Kernel Module"));
		return 0;
	}
	return -EINVAL;
}

/* Cut "Name: value" in two, both trimmed, in place; false for another line. */
static bool split_line(char *line, char **name, char **value)
{
	char *colon = strchr(line, ':');

	if (!colon)
		return false;
	*colon = '\0';
	*name = text_trim(line);
	*value = text_trim(colon + 1);
	return **name;
}

void nvidia_parameters_parse(json_t *parameters, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *cursor = copy, *line, *name, *value;

	while ((line = text_next_line(&cursor))) {
		if (!split_line(line, &name, &value))
			continue;
		const size_t n = strlen(value);
		if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
			value[n - 1] = '\0';
			value++;
		}
		json_put_string(parameters, name, value);
	}
}

void nvidia_information_parse(json_t *gpu, const char *text)
{
	static const struct {
		const char *name, *key;
	} table[] = {{"Model", "model"}, {"GPU UUID", "uuid"}, {"GPU Firmware", "firmware"}};
	_cleanup_free_ char *copy = xstrdup(text);
	char *cursor = copy, *line, *name, *value;
	int64_t minor;

	while ((line = text_next_line(&cursor))) {
		if (!split_line(line, &name, &value))
			continue;
		if (strcmp(name, "Device Minor") == 0 && text_to_i64(value, 10, &minor) == 0)
			json_put_int(gpu, "minor", minor);
		if (!*value || strcmp(value, "N/A") == 0 || strchr(value, '?'))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(table); i++)
			if (strcmp(name, table[i].name) == 0)
				json_put_string(gpu, table[i].key, value);
	}
}

/* --- /proc/driver/nvidia ---------------------------------------------------------------------- */

static void observe_driver(struct observation *o, json_t *gpu)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_free_ char *text = NULL, *parameters = NULL;
	struct host_stat st;
	json_t *driver = json_obj(gpu, "driver");
	int rc = host_read(o->host, &text, NULL, &err, PROC "/version");

	if (rc == -ENOENT) {
		/* The module makes the file when it starts. */
		rc = host_stat(o->host, &st, false, &err, "/sys/module");
		if (rc == 0)
			json_put_bool(driver, "loaded", false);
		else
			observe_gap(o, rc, NULL, error_text(&err), "/gpu/driver/loaded");
		return;
	}
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/gpu/driver");
		return;
	}
	json_put_bool(driver, "loaded", true);
	rc = nvidia_version_parse(driver, text);
	if (rc < 0)
		observe_gap(o, rc, NULL, PROC "/version has no line \"NVRM version:\"",
			    "/gpu/driver/text");
	rc = host_read(o->host, &parameters, NULL, &err, PROC "/params");
	if (rc == 0)
		nvidia_parameters_parse(json_obj(driver, "parameters"), parameters);
	else
		observe_gap(o, rc, NULL, error_text(&err), "/gpu/driver/parameters");
}

static void observe_gpus(struct observation *o, json_t *devices)
{
	_cleanup_error_ struct error err = {0};
	_cleanup_strings_ char **names = NULL;
	int n = host_list(o->host, &names, &err, PROC "/gpus");

	if (n < 0 && n != -ENOENT)
		observe_gap(o, n, NULL, error_text(&err), "/gpu/devices");
	for (int i = 0; i < n; i++) {
		_cleanup_error_ struct error unread = {0};
		_cleanup_free_ char *text = NULL;

		if (!pci_is_bdf(names[i]))
			continue;
		json_t *gpu = json_obj(devices, names[i]);
		int rc = host_read(o->host, &text, NULL, &unread, PROC "/gpus/%s/information",
				   names[i]);
		if (rc < 0)
			observe_gap(o, rc, NULL, error_text(&unread), "/gpu/devices/%s", names[i]);
		else
			nvidia_information_parse(gpu, text);
	}
}

/* --- NVML ------------------------------------------------------------------------------------- */

static bool has_nvidia_device(json_t *snapshot)
{
	const char *bdf;
	json_t *device;

	json_object_foreach(json_at(snapshot, "/pci/devices"), bdf, device)
		if (strcmp(json_get_string(device, "vendor", ""), "0x10de") == 0 &&
		    text_starts_with(json_get_string(device, "class", ""), "0x03"))
			return true;
	return false;
}

static void observe_nvml(struct observation *o, json_t *gpu, json_t *devices)
{
	static const char *const texts[] = {
		"status", "error", "library_version", "driver_version", "library_path",
	};
	_cleanup_error_ struct error err = {0};
	_cleanup_json_ json_t *result = NULL;
	json_t *nvml = json_obj(gpu, "nvml"), *from;
	const char *bdf;
	int rc = host_probe_run(o->host, "nvml", nvml_probe, NVML_TIMEOUT_MS, &result, NULL, &err);

	if (rc == -ETIMEDOUT || rc == -ECHILD) {
		json_put_string(nvml, "status", rc == -ETIMEDOUT ? "timeout" : "crashed");
		json_put_string(nvml, "error", error_text(&err));
		return;
	}
	if (rc < 0) {
		observe_gap(o, rc, NULL, error_text(&err), "/gpu/nvml");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_put_string(nvml, texts[i], json_get_string(result, texts[i], NULL));
	if (json_get_bool(result, "double", false)) {
		json_put_bool(nvml, "double", true);
		json_put_string(json_obj(o->snapshot, "source"), "kind", "double");
	}
	/* What the driver's own files said stays. */
	json_object_foreach(json_object_get(result, "devices"), bdf, from) {
		json_t *device = json_obj(devices, bdf);
		if (json_is_object(from) && json_object_update_missing(device, from) < 0)
			alloc_exhausted();
	}
}

void observe_gpu(struct observation *o)
{
	json_t *gpu = json_obj(o->snapshot, "gpu");
	const char *library = getenv("RAILHEAD_NVML");

	observe_driver(o, gpu);
	json_t *devices = json_obj(gpu, "devices");
	observe_gpus(o, devices);
	/* NVML is not asked on a machine without a GPU, unless a library is named. */
	if (json_get_bool(json_object_get(gpu, "driver"), "loaded", false) ||
	    has_nvidia_device(o->snapshot) || (library && *library))
		observe_nvml(o, gpu, devices);
}
