"""Skills that a person has approved: exactly these bytes, and no others that their file may hold later."""

from hashlib import sha256
from pathlib import Path

from bridge.errors import UsageError
from bridge.manifest.manifest import SkillEntry
from bridge.manifest.paths import read_file


def read_approved(root: Path, skill: SkillEntry) -> bytes:
    """The file of a skill, if it is what was approved: use these bytes, as the file may change at any time.

    Raises:
        UsageError: it is not, or it can't be read.
    """
    data = read_file(root, skill.path)
    advice = f"Look at it, and run: pagebridge skills add {skill.path}"
    if skill.sha256 is None:
        raise UsageError(f"Nobody has approved {skill.path} yet. {advice}")
    if sha256(data).hexdigest() != skill.sha256:
        raise UsageError(f"{skill.path} has changed since it was approved. {advice}")
    return data
