/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration of the switches: what all network operating systems have in common.
 *
 * switch.c plans and writes the files, switch_class.c knows the RoCE class, switch_ports.c finds
 * which port leads to which host. Each operating system has a file that turns the plan into its own
 * language; sources and what was not verified: docs/switch.md.
 *
 * On the switch, traffic class, queue and priority group of RoCE have the number of its priority.
 * (`qos/traffic_class` is the queue group of the hosts' ports.) Everything else is class 0, but for
 * congestion notifications when their DSCP is declared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "matrix/buffers.h"
#include "render/render.h"

#define SWITCH_PORT_CHANNELS 10000	/* schema: 1 to 9999 */

/* The RoCE class and what the switch does for it. */
struct switch_class {
	bool known;	/* DSCP and priority are declared */
	int dscp, priority;
	int cnp_dscp;	/* congestion notifications, -1: not declared */
	int cnp_queue;	/* their queue, served strictly first */
	bool pfc, watchdog;
	bool scheduled;		/* the queues have shares */
	int share;		/* of the RoCE queue, percent, 1 to 99 */
	bool share_assumed;
	bool ecn, ecn_assumed;	/* assumed: the thresholds are not declared */
	int64_t ecn_min, ecn_max;	/* bytes */
	int ecn_probability;		/* percent */
};

/* A port at the other end of a host's cable. */
struct switch_member {
	const char *link;	/* of the host */
	const char *port;	/* of the switch */
};

/* A port, or a bundle of ports, to a host. Names are borrowed from the site. */
struct switch_interface {
	const char *node;
	const char *link;	/* link or bond of the host */
	unsigned number;	/* of the port channel; 0: a port of its own */
	bool pair;		/* the bundle has ports on another switch */
	struct switch_member *members;
	size_t n_members;
	unsigned *vlans;	/* tagged, ascending */
	size_t n_vlans;
};

struct switch_device {
	const char *name;
	struct switch_interface *interfaces;	/* in the order of nodes, then as declared */
	size_t n_interfaces, capacity;
};

struct switch_plan {
	struct render *r;
	struct switch_class class;
	struct switch_buffers buffers;
	int64_t mtu, vlan;	/* 0: not declared */
	int64_t host_mtu;	/* largest MTU of a host link that carries RDMA */
	const char *lacp_rate;	/* "fast", "slow", NULL */
	int64_t headroom;	/* the larger of what is declared and computed; 0: neither */
	char *headroom_text;	/* formula with its numbers, NULL: not computed */
	struct switch_device *devices;
	size_t n_devices;
	unsigned *vlans;	/* of all ports, with the untagged one, ascending */
	size_t n_vlans;
	char **notes;		/* what was left out, NULL-terminated */
};

/* A network operating system. */
struct switch_system {
	const char *platform;	/* value of switch/platform, and folder */
	const char *title;
	const char *file;	/* name of the configuration */
	const char *comment;	/* begins a comment; NULL: the format has none */
	const char *documents;	/* of the vendor; a line each */
	int64_t mtu_max;
	unsigned port_channel_max;
	unsigned vlan_min;	/* lowest VLAN that can be configured */
	size_t description_max;
	bool watchdog;	/* it has a PFC watchdog that is configured */
	/* What this system cannot be told, or only by hand. */
	void (*notes)(const struct switch_plan *plan, char ***notes);
	void (*config)(const struct switch_plan *plan, const struct switch_device *device,
		       struct strbuf *b);
	/* How the file is applied, and the commands that show that it took effect. */
	void (*verify)(const struct switch_plan *plan, const struct switch_device *device,
		       struct strbuf *b);
};
extern const struct switch_system switch_sonic, switch_nvue, switch_eos, switch_nxos, switch_os10;

/* --- for switch.c --- */

/* The RoCE class as the site declares it; refuses what no switch can take. */
void switch_class_read(struct switch_plan *plan);
/* Headroom that the plan's speed, cable and MTU need. After the ports were found. */
void switch_headroom(struct switch_plan *plan);
/* The devices of the plan, with the ports that lead to hosts; switch_ports_clear() frees them. */
void switch_ports_find(struct switch_plan *plan);
void switch_ports_clear(struct switch_plan *plan);

/* A number without unit of the section `switch`, or 0. */
int64_t switch_number(const struct switch_plan *plan, const char *key);

/* --- for systems --- */

/* MTU of the ports: as declared, but no more than the system takes. */
int64_t switch_mtu(const struct switch_plan *plan, const struct switch_system *system);

/* Bytes as the systems count KB in their thresholds: to the nearest 1024, at least 1. */
int64_t switch_kilobytes(int64_t bytes);

/* "10,20,30": VLANs of a port or a plan. */
void switch_vlans(struct strbuf *b, const unsigned *vlans, size_t n);
/* The tagged VLANs of an interface with the untagged one, ascending. The caller frees. */
unsigned *switch_vlans_all(const struct switch_plan *plan, const struct switch_interface *interface,
			   size_t *n);
/* All 64 DSCPs but that of RoCE and that of congestion notifications, with `separator` between;
 * `ranges`: "0-23" for neighbours. */
void switch_other_dscps(struct strbuf *b, const struct switch_class *class, const char *separator,
			bool ranges);

/* One command of verify.txt, and what has to be seen. Each is one line. */
void switch_check(struct strbuf *b, const char *command, const char *expected, ...)
	RH_PRINTF(3, 4);
/* A heading of verify.txt. */
void switch_heading(struct strbuf *b, const char *text);
/* The first port of a switch, for an example; "PORT" when it has none. */
const char *switch_first_port(const struct switch_device *device);
/* The first bundle of a switch, or NULL. */
const struct switch_interface *switch_first_bundle(const struct switch_device *device);
/* Some bundle has ports on another switch. */
bool switch_has_pair(const struct switch_plan *plan);
