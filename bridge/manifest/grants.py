"""What a project's tools get to know of the environment, and of secrets."""

from collections.abc import Mapping, Sequence

from bridge.manifest.manifest import AgentEntry, Manifest


def granted(
    manifest: Manifest, agents: Sequence[AgentEntry], *, environ: Mapping[str, str], secrets: Mapping[str, str]
) -> dict[str, str]:
    """The variables that tools get when this agent calls them; of a name that is in both, the secret.

    None are granted that were not named, so without a manifest there are none.
    """
    grants = (manifest.secrets, *(agent.secrets for agent in agents))
    given = {name: value for name, value in secrets.items() if all(names is None or name in names for names in grants)}
    return {name: environ[name] for name in sorted(manifest.env) if name in environ} | given
