"""``saltus doctor``: say whether this machine can run Saltus, and how well."""

from saltus.commands.common import JsonOption
from saltus.console import print_json, print_table


def doctor(json: JsonOption = False) -> int:
    """Check this machine; exit status 0 when everything essential is there."""
    from saltus.checks import run_checks  # slow to load: it tries every dependency

    checks = run_checks()
    rows = [check._asdict() for check in checks]
    ok = all(check.ok for check in checks if check.essential)
    if json:
        print_json({"ok": ok, "checks": rows})
    else:
        print_table("doctor", rows)
    return 0 if ok else 1
