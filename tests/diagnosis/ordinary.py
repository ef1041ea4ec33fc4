"""Ordinary logcat text, made up line by line after what phones write when nothing is wrong with QNN.

Much of it are errors of other parts: no rule may take them for ours.
"""

from __future__ import annotations

import random

_TAGS_AND_TEXTS = (
    ("ActivityManager", "Start proc {n}:com.android.{w}/u0a{s} for service {{com.android.{w}/.{w}Service}}"),
    ("ActivityManager", "Killing {n}:com.example.{w}/u0a{s} (adj 995): empty for 1800s"),
    ("ActivityTaskManager", "Displayed com.example.{w}/.MainActivity: +{s}ms"),
    ("WifiHAL", "Failed to get link layer stats: error {c}"),
    ("WifiService", "requestCachedScanData failed, code {c}"),
    ("wpa_supplicant", "wlan0: CTRL-EVENT-SCAN-FAILED ret=-22 retry=1"),
    ("BluetoothAdapter", "getState failed: error code {c}"),
    ("bt_stack", "[ERROR:l2c_utils.cc(2041)] connection timed out, handle 0x{h}"),
    ("CameraService", "connectDevice: device {s} unavailable, status {c}: Failed to create device"),
    ("Camera3-Device", "createDefaultRequest: template {s} is not supported on this camera device"),
    ("audio_hw_primary", "select_devices: changing use case low-latency-playback output device to(2: speaker)"),
    ("AudioFlinger", "createTrack_l() failed, status -{s}; out of memory for buffer"),
    ("ACDB-LOADER", "Error: ACDB AudProc vol returned = -19"),
    ("SurfaceFlinger", "Failed to find layer (com.example.{w}#{s}) in layer parent (no-parent)."),
    ("OpenGLRenderer", "Failed to create context for Vulkan: {c}"),
    ("libEGL", "eglCreateContext failed: EGL_BAD_MATCH, error 0x3009"),
    ("Adreno-GSL", "<gsl_memory_alloc_pure:{n}>: GSL MEM ERROR: kgsl_sharedmem_alloc ioctl failed."),
    ("gralloc4", "Failed to allocate buffer of {n} bytes"),
    ("NetworkStats", "Failed to parse network stats: invalid argument"),
    ("netd", "getaddrinfo: error 7, No address associated with hostname; timed out after {s} ms"),
    ("NetworkMonitor/100", "PROBE_HTTPS https://www.example.com/generate_204 time={s}ms ret=401 unauthorized"),
    ("ConnectivityService", "requestor package com.example.{w} uid {n} denied: permission denied"),
    ("HttpClient", "response 401 unauthorized, token of {w} invalid"),
    ("OkHttp", "<-- HTTP FAILED: java.net.SocketTimeoutException: timeout after {s} ms"),
    ("PackageManager", "Failed to open /data/app/{w}.apk: No such file or directory"),
    ("PackageManager", "Unknown permission com.example.{w}.READ in package com.example.{w}"),
    ("linker", 'Warning: library "/vendor/lib64/lib{w}.so" has unsupported flags DT_FLAGS_1=0x8000001'),
    ("init", "Service '{w}' (pid {n}) exited with status 1 oneshot service took 0.{s} seconds"),
    ("init", "Command 'write /proc/sys/{w} 1' failed: Unable to write to file: Permission denied"),
    (
        "auditd",
        'type=1400 audit(0.0:{n}): avc:  denied  {{ read }} for  name="{w}" dev="sysfs" ino={n} '
        "scontext=u:r:untrusted_app:s0:c{s} tcontext=u:object_r:sysfs:s0 tclass=file permissive=0",
    ),
    ("SELinux", "avc:  denied  {{ find }} for pid={n} uid=10{s} name={w} scontext=u:r:platform_app:s0"),
    ("libc", 'Access denied finding property "vendor.{w}.debug"'),
    ("lowmemorykiller", "Kill 'com.example.{w}' ({n}), uid 10{s}, oom_score_adj 945 to free {n}kB rss"),
    ("KeyMint", "Error: operation {s} failed, code -{s}"),
    ("vold", "Failed to chmod /mnt/expand: Operation not permitted"),
    ("thermal-engine", "sensor cdsp-0-usr temperature {s} mC"),
    ("ThermalHal", "cdsp cooling device state changed to {s}"),
    ("SDM", "ResourceImpl::SetMaxBandwidthMode: failed: unsupported display type {s}"),
    ("GnssHAL", "gnss session time out, retry {s}"),
    ("JobScheduler", "Job {n} of com.example.{w} timed out after {s} ms"),
    ("WindowManager", "Unable to start animation, surface is null or no children."),
    ("chatty", "uid=1000(system) Binder:{n}_{s} identical {s} lines"),
    ("art", "Background concurrent copying GC freed {n}({s}KB) AllocSpace objects, 0(0B) LOS objects"),
    ("MediaCodec", "Codec reported err 0x80001009, actionCode {s}, while in state 9"),
    ("MediaProvider", "Failed to scan /storage/emulated/0/{w}: Is a directory"),
    ("StrictMode", "StrictMode policy violation; ~duration={s} ms: android.os.strictmode.DiskReadViolation"),
    ("SmsService", "message rejected, error={c}"),
    ("RIL", "Error: QCRIL request {s} failed, result {c}"),
    ("QC2Comp", "[avcD_{s}] Failed to map buffer, error {s}"),
    ("TelephonyRegistry", "listen: invalid subscription id {s}"),
    ("DownloadManager", "download {n} aborted: no space check skipped, offline mode"),
)
_WORDS = ("settings", "music", "gallery", "weather", "calendar", "maps", "notes", "contacts", "mail", "clock")
_CODES = (1, 2, 7, 22, 110, 1000, 1002, 1007, 1008, 1100, 4000, 5000, 5005, 6001, 14001, 30010)


def logcat(size: int, seed: int) -> str:
    """About ``size`` characters of logcat -v threadtime; the same for the same seed."""
    chosen = random.Random(seed)
    lines: list[str] = []
    length, clock = 0, 0
    while length < size:
        tag, text = chosen.choice(_TAGS_AND_TEXTS)
        clock += chosen.randrange(40)
        filled = text.format(
            n=chosen.randrange(100, 99999), s=chosen.randrange(1, 999), w=chosen.choice(_WORDS),
            c=chosen.choice(_CODES), h=f"{chosen.randrange(1 << 32):08x}",
        )  # fmt: skip
        stamp = f"12-04 {clock // 3_600_000 % 24:02}:{clock // 60000 % 60:02}:{clock // 1000 % 60:02}.{clock % 1000:03}"
        lines.append(f"{stamp} {chosen.randrange(200, 30000):5} {chosen.randrange(200, 30000):5} "
                     f"{chosen.choice('VDIIIIWE')} {tag}: {filled}")  # fmt: skip
        length += len(lines[-1]) + 1
    return "\n".join(lines) + "\n"
