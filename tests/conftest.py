"""With how many examples a property is tried: few while one works, many where nobody waits (`make test`)."""

import os

from hypothesis import settings

settings.register_profile("few", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=200, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))
