"""Every check of a run's parts against each other, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from heapprof_cli import socs
from heapprof_cli.preflight import libraries, phone, runners
from heapprof_cli.preflight.findings import Finding, Severity, Situation
from heapprof_cli.records import DeviceFacts
from heapprof_cli.text import readable_bytes

Check = Callable[[Situation], Iterator[Finding]]
PhoneCheck = Callable[[DeviceFacts], Iterator[Finding]]


def check_all(situation: Situation) -> list[Finding]:
    """What is wrong or doubtful; empty when everything fits."""
    return check_phone(situation.device) + check_parts(situation)


def check_phone(device: DeviceFacts) -> list[Finding]:
    """The same of the phone alone, which can be told where there are no libraries yet."""
    return [finding for check in PHONE_CHECKS for finding in check(device)]


def check_parts(situation: Situation) -> list[Finding]:
    """The same of libraries, models and phone together."""
    return [finding for check in CHECKS for finding in check(situation)]


def _model_arch(situation: Situation) -> Iterator[Finding]:
    """A model for another HTP arch fails on a DSP; emulator and stand-in take it, so there it is a warning."""
    arch = situation.htp_arch
    for model in situation.models:
        if arch is None or model.htp_arch is None or model.htp_arch == arch:
            continue
        text = (
            f"{model.name} was made for {model.soc or 'an unknown SoC'} (HTP V{model.htp_arch}), "
            f"the phone has HTP V{arch}"
        )
        if situation.real_dsp:
            fix = "make the model for this phone's SoC, or measure on another phone"
            yield Finding("model-arch", Severity.ERROR, text, fix)
        else:
            yield Finding("model-arch", Severity.WARNING, f"{text}; accepted here because no real DSP is involved")


def _model_soc(situation: Situation) -> Iterator[Finding]:
    """Another SoC of the same arch may have less VTCM than the model was compiled for."""
    phone = socs.find(situation.device.soc) if situation.device.soc else None
    for model in situation.models:
        made_for = socs.by_id(model.soc_model)
        if phone is None or made_for is None or made_for == phone or made_for.htp_arch != phone.htp_arch:
            continue
        less = made_for.vtcm_mb and phone.vtcm_mb and phone.vtcm_mb < made_for.vtcm_mb
        vtcm = f"; it has {phone.vtcm_mb} MB VTCM, that one {made_for.vtcm_mb} MB" if less else ""
        yield Finding(
            "model-soc",
            Severity.WARNING,
            f"{model.name} was made for {made_for.name}, the phone is {phone.name} of the same HTP arch{vtcm}",
            f"make the model for {phone.name} if creating its context fails",
        )


def _model_vtcm(situation: Situation) -> Iterator[Finding]:
    """HTP refuses a context that wants more VTCM than the SoC has ("Request feature vtcm size ... unsupported")."""
    phone = socs.find(situation.device.soc) if situation.device.soc else None
    if phone is None or phone.vtcm_mb is None:
        return
    for model in situation.models:
        graphs = (graph for context in model.contexts for graph in context.binary.graphs)
        wanted = max((graph.vtcm_bytes or 0 for graph in graphs), default=0)
        if wanted > phone.vtcm_mb * 1024 * 1024:
            yield Finding(
                "model-vtcm",
                Severity.ERROR if situation.real_dsp else Severity.WARNING,
                f"{model.name} was compiled for {readable_bytes(wanted)} VTCM, {phone.name} has {phone.vtcm_mb} MB",
                f"make the model for {phone.name}, or with a smaller VTCM size",
            )


def _space(situation: Situation) -> Iterator[Finding]:
    """Files that the phone has in its cache need no more space, so this is never an error."""
    free = situation.device.free_bytes
    files = (situation.bundle.runner, *situation.bundle.libraries)
    needed = sum(file.size for file in files) + sum(c.size for model in situation.models for c in model.contexts)
    if free is not None and free < needed:
        yield Finding(
            "free-space",
            Severity.WARNING,
            f"the phone has {readable_bytes(free)} free, runner, libraries and models are {readable_bytes(needed)}",
            "free some space, or choose another place with --workspace",
        )


PHONE_CHECKS: tuple[PhoneCheck, ...] = (
    phone.adb_versions,
    phone.booted,
    phone.before_htp,
    phone.executable,
    phone.library_path,
    phone.dsp_users,
    phone.thermal,
    phone.governor,
)
CHECKS: tuple[Check, ...] = (
    phone.abi,
    phone.fastrpc,
    phone.unsigned_pd,
    phone.vendor_copies,
    runners.machine,
    runners.version,
    libraries.machines,
    libraries.systems,
    libraries.names,
    libraries.builds,
    libraries.needs,
    libraries.model_builds,
    _model_arch,
    _model_soc,
    _model_vtcm,
    _space,
)
