"""What an installation takes on the disk: ``python benchmarks/sizes.py`` lists its packages, largest first.

It looks at the environment that it runs in, as pip has written it down: `sentgen` and all that it needs, plain and
with the extra ``all``. Byte code is not counted, which Python writes as a module is first used and pip at once, nor
what an environment has beside these packages, such as pip.
"""

from __future__ import annotations

import os
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def main() -> None:
    plain, whole = needed("sentgen"), needed("sentgen[all]")
    sizes = {name: size(package) for name, package in whole.items()}
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        print(f"{sizes[name] / 1e6:8.1f} MB  {name}{'' if name in plain else ' [all]'}")
    for title, names in (("plain", plain), ("[all]", whole)):
        print(f"{sum(sizes[name] for name in names) / 1e6:8.1f} MB  {title}: {len(names)} packages")


def needed(what: str) -> dict[str, Distribution]:
    """Return a package and those that it needs, as far as they are installed."""
    found, seen, left = dict[str, Distribution](), set[tuple[str, str]](), [Requirement(what)]
    while left:
        wanted = left.pop()
        name = canonicalize_name(wanted.name)
        try:
            found[name] = package = distribution(name)
        except PackageNotFoundError:
            continue
        for extra in {"", *wanted.extras}:
            if (name, extra) not in seen:
                seen.add((name, extra))
                lines = map(Requirement, package.requires or ())
                left += [one for one in lines if not one.marker or one.marker.evaluate({"extra": extra})]
    return found


def size(package: Distribution) -> int:
    """Return the bytes of the files of a package."""
    paths = (str(file.locate()) for file in package.files or () if file.suffix != ".pyc")
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path))


if __name__ == "__main__":
    main()
