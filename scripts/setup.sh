# Sourced by scripts/heapprof and scripts/test: sets heapprof up in .venv, once, and again when its build inputs change.
# Everything it says goes to stderr: stdout belongs to the command that follows.

find_python() {
    for candidate in "${HEAPPROF_PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    echo "heapprof needs Python 3.10 or newer (python3); set HEAPPROF_PYTHON to its path" >&2
    return 1
}

make_venv() {
    "$1" -m venv "$2" >&2 && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        # Debian splits venv from Python; as root (a container, a CI machine) fetch it.
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y python3-venv; } >&2 \
            && "$1" -m venv --clear "$2" >&2 && return 0
    fi
    echo "Python's venv module is missing: install it (Debian: apt-get install python3-venv), then run this again" >&2
    return 1
}

# What an installation depends on: package metadata, and the sources of the device programs.
setup_stamp() {
    (cd "$1" && { echo "$2"; cat pyproject.toml heapprof_cli/__init__.py; \
        find device_bin \( -path device_bin/build -o -name __pycache__ \) -prune -o -type f -print | LC_ALL=C sort | xargs cat; } | cksum)
}

# set_up ROOT EXTRAS: EXTRAS is "" or "[test]"
set_up() {
    venv=$1/.venv
    stamp=$(setup_stamp "$1" "[test]")
    plain=$(setup_stamp "$1" "")
    done_before=$(cat "$venv/heapprof-set-up" 2>/dev/null || true)
    if [ "$done_before" = "$stamp" ] || { [ -z "$2" ] && [ "$done_before" = "$plain" ]; }; then
        return 0
    fi
    # The tools of a tested checkout stay installed when only `heapprof` is called.
    extras=$2
    [ -x "$venv/bin/pytest" ] && extras="[test]"
    echo "heapprof: setting up in .venv (once; about a minute) ..." >&2
    if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python) || return 1
        rm -rf "$venv"
        make_venv "$python" "$venv" || return 1
    fi
    log=$venv/set-up.log
    if ! { "$venv/bin/python" -m pip install --disable-pip-version-check "hatchling>=1.25" "editables" "ziglang==0.17.1" \
        && "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation -e "$1$extras"; } >"$log" 2>&1
    then
        tail -n 30 "$log" >&2
        echo "heapprof: setting up failed; the whole log is in .venv/set-up.log" >&2
        return 1
    fi
    # Compiled once here: some machines forbid Python to do it when it runs.
    "$venv/bin/python" -m compileall -q "$1/heapprof_cli" >/dev/null 2>&1 || true
    setup_stamp "$1" "$extras" >"$venv/heapprof-set-up"
}
