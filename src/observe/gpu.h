/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of /gpu. */
#pragma once

#include "observe/observe.h"

/* The line "NVRM version: …" of /proc/driver/nvidia/version into driver["text"], ["version"] and
 * ["open"]; -EINVAL when the text has no such line. A line without a number gives no version. */
int nvidia_version_parse(json_t *driver, const char *text);
/* Lines "Name: value" of /proc/driver/nvidia/params; quotes around a value are taken off. */
void nvidia_parameters_parse(json_t *parameters, const char *text);
/* /proc/driver/nvidia/gpus/BDF/information into {"model", "uuid", "firmware", "minor"}; a value
 * that the driver shows as unknown ("N/A", "GPU-????????…") is left out. */
void nvidia_information_parse(json_t *gpu, const char *text);

/*
 * Probe for host_probe_run(): NVML, looked up at run time (RAILHEAD_NVML names another library).
 * Makes {"status", "error", "library_version", "driver_version", "library_path", "double",
 * "devices": {BDF: {…}}} as documented for /gpu/nvml and /gpu/devices. A library that is missing or
 * refuses is a status, not an error.
 */
int nvml_probe(json_t *result, struct error *err);
