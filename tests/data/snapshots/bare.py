# SPDX-License-Identifier: Apache-2.0
"""A machine of which nothing but its operating system is known: the cases add what their reports print."""

KERNEL = "6.12.0"  # a number without a distribution's tag; made up


def node():
    return {
        "schema": "railhead.snapshot/1", "railhead": "handmade", "taken": {"realtime": "2026-01-01T00:00:00Z", "boottime_ns": 3600 * 10**9},
        "source": {"kind": "handmade", "note": "hand-made: an empty machine; all hardware comes from the case that patches it"},
        "node": {"hostname": "reporter", "boot_id": "00000000-0000-4000-8000-000000000000", "machine": "x86_64"},
        "gaps": [],
        "os": {
            "kernel": {"release": KERNEL, "cmdline": "ro", "tainted": 0, "installed": [KERNEL], "headers": True},
            "memlock": {"self": {"soft_bytes": -1, "hard_bytes": -1, "cap_ipc_lock": True}, "services": {}},
            "modules": {}, "packages": {}, "log": {"readable": True, "lines": []}, "iommu": {"groups": 0, "types": []},
        },
        "pci": {"devices": {}, "auxiliary": {}},
        "links": {"lo": {"index": 1, "mtu": 65536, "kind": "", "up": True, "carrier": True, "operstate": "unknown", "mac": "00:00:00:00:00:00", "addresses": []}},
        "routes": [], "devlink": {},
        "rdma": {"netlink": True, "netns_mode": "shared", "devices": {}, "chardev": {"rdma_cm": {"present": True, "mode": "0666", "usable": True}}},
        "userspace": {"rdma_core": "60.0", "providers": ["bnxt_re", "irdma", "mlx5", "rxe"], "warnings": [], "opened": [], "failed": {}},
    }
