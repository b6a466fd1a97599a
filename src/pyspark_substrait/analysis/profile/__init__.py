"""The profile of a plan that ran, relation by relation. The measuring itself is in ``spark/profiling``.

* ``profile``: the profile of a plan; ``figures``: the figures of a relation
* ``rows``: numbers of rows that follow from others
* ``text``: figures beside the lines of a page; ``as_json``: as JSON
"""

from pyspark_substrait.analysis.profile.figures import Basis, Figure, RelationProfile
from pyspark_substrait.analysis.profile.profile import Profile

__all__ = ["Basis", "Figure", "Profile", "RelationProfile"]
