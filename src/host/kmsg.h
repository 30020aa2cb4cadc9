/* SPDX-License-Identifier: Apache-2.0 */
/* The two text forms of the kernel log. Each adds {"time_us", "level", "text"} to `lines` when the
 * text contains one of `needles`; what is not of the form is passed over. */
#pragma once

#include "base/json.h"

/* One record of /dev/kmsg; changed in place. */
void kmsg_parse_record(json_t *lines, const char *const *needles, char *record);
/* One line of syslog(2). */
void kmsg_parse_syslog_line(json_t *lines, const char *const *needles, const char *line);
