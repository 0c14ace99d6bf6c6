# Builds a qemu-x86_64 that takes plugins from this Debian's source package, into the folder $1 as bin/qemu-x86_64.
#
# The source is what this Debian's keys have signed. What is done is not done again: after an interruption the build goes
# on where it was. Exit status 2: something has to be installed first.
set -eu
folder=$1

. /etc/os-release
if [ "${ID:-}" != debian ] || [ -z "${VERSION_CODENAME:-}" ]; then
    echo "this is no release of Debian; build QEMU with --enable-plugins, and name it by --qemu" >&2
    exit 2
fi

missing=
need() { # PACKAGE COMMAND...
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
need dpkg-dev dpkg-source --version
need gcc gcc --version
need libc6-dev test -e /usr/include/stdio.h
need meson meson --version
need ninja-build ninja --version
need pkgconf pkg-config --version
need libglib2.0-dev pkg-config --exists glib-2.0 gmodule-2.0
need python3-venv python3 -c 'import ensurepip, venv'
need xz-utils xz --version
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
if [ -n "$missing" ]; then
    echo "the build needs packages that are not installed: apt install$missing" >&2
    exit 2
fi

# Apt keeps its lists in the folder, so it needs no rights.
cd "$folder"
mkdir -p lists/partial archives/partial bin
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" >sources.list
cat >apt.conf <<CONF
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$folder/lists";
Dir::Cache::Archives "$folder/archives";
Dir::Cache::srcpkgcache "";
Dir::Cache::pkgcache "";
Acquire::Languages "none";
APT::Sandbox::User "";
CONF
APT_CONFIG=$folder/apt.conf
export APT_CONFIG
echo "kilocore: looking for the source of QEMU in $VERSION_CODENAME" >&2
apt-get -qq update >&2
apt-get -qq source --download-only --only-source qemu >&2
description=$(ls -t qemu_*.dsc | head -n 1)
name=${description%.dsc}
if [ ! -e "$name/.unpacked" ]; then
    rm -rf "$name"
    dpkg-source --no-copy -x "$description" "$name" >&2
    touch "$name/.unpacked"
fi

build=$folder/$name/build-kilocore
mkdir -p "$build"
cd "$build"
if [ ! -e build.ninja ]; then
    echo "kilocore: configuring it" >&2
    # Older ones download nothing in any case.
    offline=$(../configure --help 2>/dev/null | grep -o -m 1 -e --disable-download || true)
    ../configure --target-list=x86_64-linux-user --enable-plugins --disable-system --disable-tools --disable-docs \
        --disable-werror --disable-install-blobs $offline >configured.log 2>&1 || {
        tail -n 20 configured.log >&2
        exit 1
    }
fi
echo "kilocore: building it, which takes some minutes" >&2
ninja qemu-x86_64 >built.log 2>&1 || {
    tail -n 20 built.log >&2
    exit 1
}
cp qemu-x86_64 "$folder/bin/.new"
mv "$folder/bin/.new" "$folder/bin/qemu-x86_64"
