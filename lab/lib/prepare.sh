# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Builds what a guest boots from: kernel and modules, initramfs, dcbsim.ko and the two ends of the exec channel.
# Everything goes into the cache and is made again only when what it is made from has changed.

kernel_tree=$cache/kernel
headers_tree=$cache/headers
initrd=$cache/initrd.img

# RHEL 10 and this package share their kernel version.
kernel_package=${LAB_KERNEL_PACKAGE:-linux-image-6.12-amd64}

# Modules that the initramfs loads itself, to reach the root file system.
initrd_modules=(9p 9pnet_virtio overlay configfs)
# Modules that guests load from the root file system. They are unpacked in advance: xz is slow under emulation.
# crc32_generic is here because rxe looks the algorithm up by name, so that no dependency list names it.
guest_modules=(virtio_net bonding bridge 8021q rdma_rxe crc32_generic rdma_ucm tls sch_netem sch_red sch_ingress
	cls_matchall cls_flower act_pedit act_csum act_gact)

# fresh STAMP KEY: true if STAMP records KEY, so that what it stands for need not be made again.
fresh() {
	[[ -r $1 && $(<"$1") == "$2" ]]
}

hash_of() {
	cat -- "$@" | sha256sum | cut -d' ' -f1
}

kernel_release() {
	cat "$kernel_tree/release"
}

kernel_image() {
	printf '%s/boot/vmlinuz-%s\n' "$kernel_tree" "$(kernel_release)"
}

# The meta package only depends on the package of the current kernel.
resolve_kernel_package() {
	local package
	need_tool apt-cache apt
	package=$(apt-cache depends "$kernel_package" 2>/dev/null |
		awk '!found && $2 ~ /^linux-image-[0-9]/ { print $2; found = 1 }')
	[[ -n $package ]] || die "apt knows no $kernel_package (run 'apt-get update'? Debian 12 has it in bookworm-security)"
	printf '%s\n' "$package"
}

download_packages() {
	local folder=$1
	shift
	say "downloading $*"
	# The _apt user cannot write into a build folder; the packages' signatures are checked all the same.
	(cd "$folder" && apt-get -qq -o APT::Sandbox::User=root download "$@") ||
		die "cannot download $* (run 'apt-get update' if the package lists are old)"
}

unpack_kernel() {
	local package=$1 release=${1#linux-image-} debs
	debs=$(mktemp -d "$cache/debs.XXXXXX")
	download_packages "$debs" "$package" "linux-headers-$release" "linux-headers-${release%-*}-common" \
		"linux-kbuild-${release%-*}"
	say "unpacking kernel $release"
	rm -rf "$kernel_tree" "$headers_tree"
	mkdir -p "$kernel_tree" "$headers_tree"
	dpkg-deb -x "$debs"/linux-image-*.deb "$kernel_tree"
	local deb
	for deb in "$debs"/linux-headers-*.deb "$debs"/linux-kbuild-*.deb; do
		dpkg-deb -x "$deb" "$headers_tree"
	done
	rm -rf "$debs"
	# Hardware that no guest has. depmod reads every module that is left, and it reads them twice.
	rm -rf "$kernel_tree/lib/modules/$release"/kernel/{sound,drivers/{gpu,media,iio,usb,hid,input,scsi,staging,net/wireless}}
	# Debian's headers include each other by absolute path.
	sed -i "s|/usr/src/|$headers_tree/usr/src/|" "$headers_tree/usr/src/linux-headers-$release/Makefile"
	depmod -b "$kernel_tree" "$release"
	printf '%s\n' "$release" >"$kernel_tree/release"
}

# Prints the paths of the named modules and all that they need, in the order of insertion.
module_closure() {
	modprobe -d "$kernel_tree" -S "$(kernel_release)" --show-depends -a "$@" |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++'
}

unpack_modules() {
	local module
	while read -r module; do
		[[ $module == *.xz ]] && xz -d -- "$module"
	done < <(module_closure "${initrd_modules[@]}" "${guest_modules[@]}")
	depmod -b "$kernel_tree" "$(kernel_release)"
}

prepare_kernel() {
	local key="$kernel_package ${initrd_modules[*]} ${guest_modules[*]}"
	fresh "$kernel_tree/stamp" "$key" && return
	need_tool depmod kmod
	need_tool xz xz-utils
	need_tool dpkg-deb dpkg
	unpack_kernel "$(resolve_kernel_package)"
	unpack_modules
	printf '%s\n' "$key" >"$kernel_tree/stamp"
}

prepare_remote() {
	local key name bin=$cache/bin
	key=$(hash_of "$lab"/remote/*)
	fresh "$bin/stamp" "$key" && return
	need_tool "${CC:=cc}" gcc
	say "building the exec channel"
	mkdir -p "$bin"
	for name in labexec labagent; do
		"$CC" -std=gnu17 -O2 -Wall -Wextra -Wshadow -Wconversion -o "$bin/$name" "$lab/remote/$name.c"
	done
	printf '%s\n' "$key" >"$bin/stamp"
}

prepare_dcbsim() {
	local key build=$cache/dcbsim
	key="$(kernel_release) $(hash_of "$lab"/dcbsim/*)"
	fresh "$build/stamp" "$key" && return
	need_tool make make
	need_tool gcc-12 gcc-12
	say "building dcbsim.ko"
	rm -rf "$build"
	mkdir -p "$build"
	cp "$lab"/dcbsim/* "$build"
	# Without BTF, which would need pahole and which nothing here reads.
	make -s -C "$headers_tree/usr/src/linux-headers-$(kernel_release)" M="$build" CONFIG_DEBUG_INFO_BTF_MODULES= modules \
		>"$build/log" 2>&1 || {
		cat "$build/log" >&2
		die "dcbsim.ko does not build"
	}
	printf '%s\n' "$key" >"$build/stamp"
}

# Files that guests keep in memory although the whole root is there through 9p: each open and read over 9p costs
# milliseconds under emulation, and starting a program needs dozens. What is not on this machine is left out.
hot_programs=(bash bridge cat dcb dmesg env ethtool false grep head hostname ib_read_bw ib_send_bw ib_write_bw ib_write_lat
	ibv_devinfo insmod ip kmod ls mkdir modprobe mount ping prlimit rdma rm rmmod sed sh sleep sysctl tail tc timeout
	tr true umount uname)
hot_files=(/etc/ld.so.cache /etc/nsswitch.conf /etc/passwd /etc/group /etc/libibverbs.d/*.driver
	/usr/lib/*/libibverbs/librxe-*.so /usr/lib/*/libnss_files.so.2)

# Prints the shared libraries of programs and libraries.
libraries_of() {
	ldd "$@" 2>/dev/null | grep -o '/[^ ):]*\.so[^ ):]*'
}

hot_list() {
	local name file programs=() files=()
	for name in "${hot_programs[@]}"; do
		file=$(type -P "$name") && programs+=("$file")
	done
	for file in "${hot_files[@]}"; do
		[[ -e $file ]] && files+=("$file")
	done
	printf '%s\n' "${programs[@]}" "${files[@]}"
	libraries_of "${programs[@]}" "${files[@]}"
	if [[ -x $top/build/railhead ]]; then
		libraries_of "$top/build/railhead"
	fi
}

# Copies a file to the same place below a root. The folder is resolved first, because a folder /lib below that root would
# hide the link of that name.
copy_hot() {
	local file=$1 root=$2 folder
	folder=$(realpath "$(dirname "$file")")
	mkdir -p "$root$folder"
	cp -L --preserve=mode "$file" "$root$folder/"
}

# Copies modules and their index to MODULES, keeping their places.
copy_modules() {
	local modules=$1 tree module
	shift
	tree=$kernel_tree/lib/modules/$(kernel_release)
	mkdir -p "$modules"
	cp "$tree"/modules.* "$modules"
	while read -r module; do
		mkdir -p "$modules/$(dirname "${module#"$tree/"}")"
		cp "$module" "$modules/${module#"$tree/"}"
	done < <(module_closure "$@")
}

build_initrd() {
	local root order=0 file
	root=$(mktemp -d "$cache/initrd.XXXXXX")
	mkdir -p "$root"/{bin,early,hot/opt/lab,proc,sys,dev,lower,upper,root}
	cp "$(type -P busybox)" "$root/bin/busybox"
	install -m 755 "$lab/guest/init" "$root/init"
	# Numbered, because the order of insertion matters and a glob sorts.
	while read -r file; do
		cp "$file" "$root/early/$(printf '%02d' "$order")-$(basename "$file")"
		order=$((order + 1))
	done < <(module_closure "${initrd_modules[@]}")
	copy_modules "$root/modules" "${guest_modules[@]}"
	while read -r file; do
		copy_hot "$file" "$root/hot"
	done < <(hot_list | sort -u)
	cp "$lab"/guest/* "$cache/bin/labagent" "$cache/dcbsim/dcbsim.ko" "$root/hot/opt/lab"
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$initrd.new"
	mv "$initrd.new" "$initrd"
	rm -rf "$root"
}

prepare_initrd() {
	local key hot stamp=$cache/initrd.stamp
	need_tool busybox busybox-static
	need_tool cpio cpio
	hot=$(hot_list | sort -u)
	key="$(kernel_release) ${initrd_modules[*]} ${guest_modules[*]}
		$(hash_of "$lab"/guest/* "$lab/lib/prepare.sh" "$cache/bin/labagent" "$cache/dcbsim/dcbsim.ko")
		$(tr '\n' '\0' <<<"$hot" | xargs -0 stat -Lc '%n %s %Y')"
	fresh "$stamp" "$key" && return
	say "building the initramfs"
	build_initrd
	printf '%s\n' "$key" >"$stamp"
}

prepare_all() {
	[[ $(uname -m) == x86_64 ]] || die "the lab's guests are x86-64, and so has to be this machine: they run its programs"
	[[ $top$cache != *[[:space:]]* ]] ||
		die "$top and $cache must be without white space, for the sake of kbuild and the kernel command line"
	mkdir -p "$cache"
	prepare_kernel
	prepare_remote
	prepare_dcbsim
	prepare_initrd
}
