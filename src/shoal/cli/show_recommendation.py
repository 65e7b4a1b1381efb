"""Show a recommendation in the terminal."""

from shoal.addresses import without_passwords
from shoal.cli.show import as_json, grid, line
from shoal.data._plain_text import written
from shoal.recommendation.candidate_list import Tried
from shoal.recommendation.propose import Recommendation

WIDTH = 24
"""Characters of the longest bar."""


def recommended(found: Recommendation, folder: str | None, *, json: bool, quiet: bool) -> int:
    """Show what was tried, the proposed release, the reasons for it, and the command to run."""
    if json:
        as_json(as_data(found, folder))
        return 0
    if quiet:
        line(found.command)
        return 0
    line(found.profile)
    line()
    _releases(found)
    line()
    line("Proposed", "bold")
    for reason in found.reasons:
        line(f"- {reason}")
    line()
    line("Run", "bold")
    line(f"  {found.command}")
    if folder is not None:
        line()
        line(f"Read     {folder}/recommend.html", "bold")
    return 0


def _releases(found: Recommendation) -> None:
    """Show every release, with its information loss as a bar."""
    most = max((one.loss or 0.0 for one in found.releases), default=0.0)
    rows = [
        (
            "=>" if one is found.proposal else "",
            one.label,
            one.privacy,
            one.loss,
            "#" * round(WIDTH * (one.loss or 0.0) / most) if most else "",
            "frontier" if one.best else "",
            "" if one.meets else "misses the risk",
            one.seconds,
        )
        for one in found.releases
    ]
    grid(rows, ["", "release", found.scale.privacy, "loss", "", "", "", "seconds"])
    line(
        f"loss: {found.scale.meaning} ({found.scale.loss}); frontier: no other release is better in both ways."
    )


def as_data(found: Recommendation, folder: str | None) -> dict[str, object]:
    """The recommendation as plain data."""
    return {
        "profile": found.profile,
        "scale": {
            "loss": found.scale.loss,
            "meaning": found.scale.meaning,
            "privacy": found.scale.privacy,
            "better": "higher" if found.scale.high else "lower",
        },
        "proposal": _entry(found.proposal),
        "command": found.command,
        "recipe": without_passwords(
            found.recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        ),
        "reasons": list(found.reasons),
        "frontier": [_entry(one) for one in found.frontier],
        "tried": [_entry(one) for one in found.tried],
        "seconds": float(written(found.seconds).replace(",", "")),
        "folder": folder,
    }


def _entry(one: Tried) -> dict[str, object]:
    return {
        "label": one.label,
        "method": dict(one.candidate.method),
        "status": one.status,
        "error": one.error or None,
        "privacy": one.privacy,
        "loss": one.loss,
        "meets": one.meets,
        "frontier": one.best,
        "seconds": one.seconds,
    }
