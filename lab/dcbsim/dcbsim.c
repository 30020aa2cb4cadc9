// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcbsim - gives net devices that have none the DCB interface of a data centre NIC
 *
 *   insmod dcbsim.ko devices=roce0,roce1
 *
 * The named devices get dcbnl operations that store what is set and give it back, and the pause
 * parameters of ethtool. No packet is treated differently. APP entries live in the dcb core, as
 * with a real driver. rmmod restores the devices.
 *
 * PFC has counters but no frames: /sys/kernel/debug/dcbsim/DEVICE/requests_N and indications_N, N
 * being the priority, are what is reported.
 *
 * The module parameters below make it refuse what a NIC refuses, to test programs that configure
 * DCB. All of them are off by default and can be changed at run time. Each names the driver
 * function whose behaviour it imitates.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/ethtool.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/dcbnl.h>

static char *devices;
module_param(devices, charp, 0444);
MODULE_PARM_DESC(devices, "names of the net devices to serve, separated by commas");

static unsigned int max_tcs = IEEE_8021QAZ_MAX_TCS;
module_param(max_tcs, uint, 0444);
MODULE_PARM_DESC(max_tcs,
		 "number of traffic classes, 1 to 8 (an E810 with more than four ports has 4)");

static unsigned int refuse_errno;
module_param(refuse_errno, uint, 0644);
MODULE_PARM_DESC(refuse_errno, "every set fails with this errno; 0: none does");

/* ice since v6.6, "ice: enforce no DCB config changing when in bond": a guard in each set function
 * of ice_dcb_nl.c. */
static bool refuse_bonded;
module_param(refuse_bonded, bool, 0644);
MODULE_PARM_DESC(refuse_bonded, "every set fails with EINVAL while the device has a master");

/* ice_dcb_nl.c, all set functions: the firmware's LLDP agent owns the configuration, software can
 * only read it. */
static bool fw_lldp;
module_param(fw_lldp, bool, 0644);
MODULE_PARM_DESC(fw_lldp,
		 "DCBX is in firmware: it reads as LLD-managed and every set fails with EINVAL");

/* ice_dcbnl_setapp(): "already user mapped". The dcb core alone refuses only an entry with the same
 * priority. */
static bool refuse_mapped_dscp;
module_param(refuse_mapped_dscp, bool, 0644);
MODULE_PARM_DESC(refuse_mapped_dscp, "adding a DSCP that has a priority fails with EINVAL");

/* ice_dcbnl_setapp(), first DSCP entry: the port goes to DSCP mode with a new ETS configuration. */
static bool dscp_mode_resets_ets;
module_param(dscp_mode_resets_ets, bool, 0644);
MODULE_PARM_DESC(dscp_mode_resets_ets,
		 "the first DSCP entry sets ETS back: TC0 100 %, priority n to TC n");

/* ice_set_pauseparam(): "Priority flow control enabled. Cannot set link flow control." */
static bool pfc_excludes_pause;
module_param(pfc_excludes_pause, bool, 0644);
MODULE_PARM_DESC(pfc_excludes_pause, "link pause and PFC cannot both be on");

struct dcbsim_app {
	struct list_head node;
	struct dcb_app app;
};

struct dcbsim {
	struct list_head node;
	struct net_device *netdev;
	netdevice_tracker tracker;
	const struct dcbnl_rtnl_ops *former_dcbnl_ops;
	const struct ethtool_ops *former_ethtool_ops;
	struct ethtool_ops ethtool_ops;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct list_head apps;
	u8 dcbx;
	u8 state;
	bool pause_rx;
	bool pause_tx;
	struct dentry *debugfs;
};

/* All devices that are served, protected by the RTNL, under which the operations below run too. */
static LIST_HEAD(dcbsim_list);
static struct dentry *dcbsim_debugfs;

static struct dcbsim *dcbsim_of(const struct net_device *netdev)
{
	struct dcbsim *sim;

	ASSERT_RTNL();
	list_for_each_entry(sim, &dcbsim_list, node)
		if (sim->netdev == netdev)
			return sim;
	return NULL;
}

static int dcbsim_may_set(struct net_device *netdev)
{
	if (refuse_errno)
		return -(int)min_t(unsigned int, refuse_errno, MAX_ERRNO);
	if (fw_lldp) {
		netdev_info(netdev, "DCB is managed by firmware\n");
		return -EINVAL;
	}
	if (refuse_bonded && netdev_master_upper_dev_get(netdev)) {
		netdev_info(netdev, "DCB cannot be changed while the device is in a bond\n");
		return -EINVAL;
	}
	return 0;
}

static void dcbsim_ets_reset(struct dcbsim *sim)
{
	memset(&sim->ets, 0, sizeof(sim->ets));
	sim->ets.ets_cap = max_tcs;
	sim->ets.tc_tx_bw[0] = 100;
	sim->ets.tc_rx_bw[0] = 100;
	sim->ets.tc_reco_bw[0] = 100;
	for (u8 i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		sim->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
		sim->ets.tc_reco_tsa[i] = IEEE_8021QAZ_TSA_ETS;
		sim->ets.prio_tc[i] = i < max_tcs ? i : 0;
		sim->ets.reco_prio_tc[i] = sim->ets.prio_tc[i];
	}
}

static int dcbsim_getets(struct net_device *netdev, struct ieee_ets *ets)
{
	*ets = dcbsim_of(netdev)->ets;
	return 0;
}

/* ice_dcbnl_setets(): "Invalid config, total bandwidth must equal 100". */
static int dcbsim_ets_check(struct net_device *netdev, const struct ieee_ets *ets)
{
	unsigned int sum = 0;
	bool any_ets = false;

	for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (ets->prio_tc[i] >= max_tcs)
			return -EINVAL;
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			any_ets = true;
			sum += ets->tc_tx_bw[i];
		}
	}
	if (any_ets && sum != 100) {
		netdev_info(netdev, "ETS bandwidth adds up to %u, not 100\n", sum);
		return -EINVAL;
	}
	return 0;
}

static int dcbsim_setets(struct net_device *netdev, struct ieee_ets *ets)
{
	struct dcbsim *sim = dcbsim_of(netdev);
	int err = dcbsim_may_set(netdev) ?: dcbsim_ets_check(netdev, ets);

	if (err)
		return err;
	sim->ets = *ets;
	sim->ets.ets_cap = max_tcs;
	return 0;
}

static int dcbsim_getpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	*pfc = dcbsim_of(netdev)->pfc;
	return 0;
}

static int dcbsim_setpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct dcbsim *sim = dcbsim_of(netdev);
	int err = dcbsim_may_set(netdev);

	if (err)
		return err;
	if (pfc_excludes_pause && pfc->pfc_en && (sim->pause_rx || sim->pause_tx)) {
		netdev_info(netdev, "PFC cannot be enabled while link pause is on\n");
		return -EINVAL;
	}
	/* Only what can be configured: the capability and the counters are the device's. */
	sim->pfc.pfc_en = pfc->pfc_en;
	sim->pfc.mbc = pfc->mbc;
	sim->pfc.delay = pfc->delay;
	return 0;
}

static bool dcbsim_dscp_is_mapped(struct net_device *netdev, u16 dscp)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = dscp };

	return dcb_ieee_getapp_mask(netdev, &app) != 0;
}

static bool dcbsim_in_dscp_mode(struct dcbsim *sim)
{
	struct dcbsim_app *entry;

	list_for_each_entry(entry, &sim->apps, node)
		if (entry->app.selector == IEEE_8021QAZ_APP_SEL_DSCP)
			return true;
	return false;
}

static int dcbsim_app_check(struct net_device *netdev, const struct dcb_app *app)
{
	if (app->priority >= max_tcs)
		return -EINVAL;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return 0;
	if (app->protocol >= 64)
		return -EINVAL;
	if (refuse_mapped_dscp && dcbsim_dscp_is_mapped(netdev, app->protocol)) {
		netdev_info(netdev, "DSCP %u is already mapped\n", app->protocol);
		return -EINVAL;
	}
	return 0;
}

static int dcbsim_setapp(struct net_device *netdev, struct dcb_app *app)
{
	struct dcbsim *sim = dcbsim_of(netdev);
	bool was_dscp_mode = dcbsim_in_dscp_mode(sim);
	struct dcbsim_app *entry;
	int err = dcbsim_may_set(netdev) ?: dcbsim_app_check(netdev, app);

	if (err)
		return err;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->app = *app;
	err = dcb_ieee_setapp(netdev, app);
	if (err) {
		kfree(entry);
		return err;
	}
	list_add(&entry->node, &sim->apps);
	if (dscp_mode_resets_ets && !was_dscp_mode && dcbsim_in_dscp_mode(sim))
		dcbsim_ets_reset(sim);
	return 0;
}

static void dcbsim_app_forget(struct dcbsim *sim, const struct dcb_app *app)
{
	struct dcbsim_app *entry, *next;

	list_for_each_entry_safe(entry, next, &sim->apps, node) {
		if (entry->app.selector != app->selector || entry->app.protocol != app->protocol ||
		    entry->app.priority != app->priority)
			continue;
		list_del(&entry->node);
		kfree(entry);
	}
}

static int dcbsim_delapp(struct net_device *netdev, struct dcb_app *app)
{
	int err = dcbsim_may_set(netdev) ?: dcb_ieee_delapp(netdev, app);

	if (!err)
		dcbsim_app_forget(dcbsim_of(netdev), app);
	return err;
}

static u8 dcbsim_getdcbx(struct net_device *netdev)
{
	if (fw_lldp)
		return DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE;
	return dcbsim_of(netdev)->dcbx;
}

/* Returns 0 for success, as dcbnl wants it here. */
static u8 dcbsim_setdcbx(struct net_device *netdev, u8 mode)
{
	u8 version = mode & (DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE);

	if (dcbsim_may_set(netdev))
		return 1;
	if (mode & DCB_CAP_DCBX_LLD_MANAGED || !(mode & DCB_CAP_DCBX_HOST))
		return 1;
	if (version == (DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE))
		return 1;
	dcbsim_of(netdev)->dcbx = mode;
	return 0;
}

static u8 dcbsim_getstate(struct net_device *netdev)
{
	return dcbsim_of(netdev)->state;
}

static u8 dcbsim_setstate(struct net_device *netdev, u8 state)
{
	if (dcbsim_may_set(netdev))
		return 1;
	dcbsim_of(netdev)->state = !!state;
	return 0;
}

static u8 dcbsim_getcap(struct net_device *netdev, int capability, u8 *value)
{
	switch (capability) {
	case DCB_CAP_ATTR_PG:
	case DCB_CAP_ATTR_PFC:
		*value = true;
		return 0;
	case DCB_CAP_ATTR_PG_TCS:
	case DCB_CAP_ATTR_PFC_TCS:
		*value = BIT(max_tcs - 1);
		return 0;
	case DCB_CAP_ATTR_DCBX:
		*value = dcbsim_getdcbx(netdev);
		return 0;
	default:
		*value = false;
		return 0;
	}
}

static int dcbsim_getnumtcs(struct net_device *netdev, int attribute, u8 *number)
{
	if (attribute != DCB_NUMTCS_ATTR_PG && attribute != DCB_NUMTCS_ATTR_PFC)
		return -EINVAL;
	*number = max_tcs;
	return 0;
}

static u8 dcbsim_getpfcstate(struct net_device *netdev)
{
	return dcbsim_of(netdev)->pfc.pfc_en != 0;
}

static const struct dcbnl_rtnl_ops dcbsim_dcbnl_ops = {
	.ieee_getets = dcbsim_getets,
	.ieee_setets = dcbsim_setets,
	.ieee_getpfc = dcbsim_getpfc,
	.ieee_setpfc = dcbsim_setpfc,
	.ieee_setapp = dcbsim_setapp,
	.ieee_delapp = dcbsim_delapp,
	.getdcbx = dcbsim_getdcbx,
	.setdcbx = dcbsim_setdcbx,
	.getstate = dcbsim_getstate,
	.setstate = dcbsim_setstate,
	.getcap = dcbsim_getcap,
	.getnumtcs = dcbsim_getnumtcs,
	.getpfcstate = dcbsim_getpfcstate,
};

static void dcbsim_get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	struct dcbsim *sim = dcbsim_of(netdev);

	pause->rx_pause = sim->pause_rx;
	pause->tx_pause = sim->pause_tx;
}

static int dcbsim_set_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	struct dcbsim *sim = dcbsim_of(netdev);

	if (pause->autoneg)
		return -EOPNOTSUPP;
	if (pfc_excludes_pause && sim->pfc.pfc_en && (pause->rx_pause || pause->tx_pause)) {
		netdev_info(netdev, "link pause cannot be enabled while PFC is on\n");
		return -EOPNOTSUPP;
	}
	sim->pause_rx = pause->rx_pause;
	sim->pause_tx = pause->tx_pause;
	return 0;
}

static void dcbsim_debugfs_add(struct dcbsim *sim)
{
	char name[16];

	sim->debugfs = debugfs_create_dir(netdev_name(sim->netdev), dcbsim_debugfs);
	for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		snprintf(name, sizeof(name), "requests_%d", i);
		debugfs_create_u64(name, 0644, sim->debugfs, &sim->pfc.requests[i]);
		snprintf(name, sizeof(name), "indications_%d", i);
		debugfs_create_u64(name, 0644, sim->debugfs, &sim->pfc.indications[i]);
	}
}

static int dcbsim_attach(const char *name)
{
	struct net_device *netdev;
	struct dcbsim *sim;

	ASSERT_RTNL();
	netdev = __dev_get_by_name(&init_net, name);
	if (!netdev) {
		pr_err("no net device %s\n", name);
		return -ENODEV;
	}
	if (netdev->dcbnl_ops) {
		netdev_err(netdev, "has DCB of its own\n");
		return -EBUSY;
	}
	sim = kzalloc(sizeof(*sim), GFP_KERNEL);
	if (!sim)
		return -ENOMEM;
	INIT_LIST_HEAD(&sim->apps);
	sim->netdev = netdev;
	netdev_hold(netdev, &sim->tracker, GFP_KERNEL);
	sim->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	sim->state = 1;
	sim->pfc.pfc_cap = max_tcs;
	dcbsim_ets_reset(sim);
	dcbsim_debugfs_add(sim);
	list_add(&sim->node, &dcbsim_list);

	sim->former_ethtool_ops = netdev->ethtool_ops;
	sim->ethtool_ops = *netdev->ethtool_ops;
	sim->ethtool_ops.get_pauseparam = dcbsim_get_pauseparam;
	sim->ethtool_ops.set_pauseparam = dcbsim_set_pauseparam;
	netdev->ethtool_ops = &sim->ethtool_ops;
	sim->former_dcbnl_ops = netdev->dcbnl_ops;
	netdev->dcbnl_ops = &dcbsim_dcbnl_ops;
	return 0;
}

static void dcbsim_apps_flush(struct dcbsim *sim)
{
	struct dcbsim_app *entry, *next;

	list_for_each_entry_safe(entry, next, &sim->apps, node) {
		dcb_ieee_delapp(sim->netdev, &entry->app);
		list_del(&entry->node);
		kfree(entry);
	}
}

static void dcbsim_detach(struct dcbsim *sim)
{
	ASSERT_RTNL();
	/* First, because the dcb core asks the device for its DCBX mode to tell others of the
	 * change. */
	dcbsim_apps_flush(sim);
	sim->netdev->dcbnl_ops = sim->former_dcbnl_ops;
	sim->netdev->ethtool_ops = sim->former_ethtool_ops;
	/* Readers that do not hold the RTNL may still look at the copied ethtool operations. */
	synchronize_net();
	debugfs_remove(sim->debugfs);
	list_del(&sim->node);
	netdev_put(sim->netdev, &sim->tracker);
	kfree(sim);
}

static void dcbsim_detach_all(void)
{
	struct dcbsim *sim, *next;

	list_for_each_entry_safe(sim, next, &dcbsim_list, node)
		dcbsim_detach(sim);
}

static int dcbsim_netdev_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct dcbsim *sim;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	sim = dcbsim_of(netdev_notifier_info_to_dev(data));
	if (sim)
		dcbsim_detach(sim);
	return NOTIFY_DONE;
}

static struct notifier_block dcbsim_notifier = {
	.notifier_call = dcbsim_netdev_event,
};

static int dcbsim_attach_all(char *names)
{
	char *name;
	int err = 0;

	while (!err && (name = strsep(&names, ",")))
		if (*name)
			err = dcbsim_attach(name);
	return err;
}

static int __init dcbsim_init(void)
{
	char *names;
	int err;

	if (max_tcs < 1 || max_tcs > IEEE_8021QAZ_MAX_TCS)
		return -EINVAL;
	names = kstrdup(devices ?: "", GFP_KERNEL);
	if (!names)
		return -ENOMEM;
	dcbsim_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	err = register_netdevice_notifier(&dcbsim_notifier);
	if (err)
		goto remove_debugfs;

	rtnl_lock();
	err = dcbsim_attach_all(names);
	if (err)
		dcbsim_detach_all();
	rtnl_unlock();
	if (!err)
		goto free_names;

	unregister_netdevice_notifier(&dcbsim_notifier);
remove_debugfs:
	debugfs_remove(dcbsim_debugfs);
free_names:
	kfree(names);
	return err;
}

static void __exit dcbsim_exit(void)
{
	rtnl_lock();
	dcbsim_detach_all();
	rtnl_unlock();
	unregister_netdevice_notifier(&dcbsim_notifier);
	debugfs_remove(dcbsim_debugfs);
}

module_init(dcbsim_init);
module_exit(dcbsim_exit);
MODULE_DESCRIPTION("DCB interface for net devices that have none, for tests");
MODULE_LICENSE("GPL");
