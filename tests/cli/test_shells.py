"""Tab in bash, zsh and fish, as docs/install.md says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: Load the completion of each shell as its own start files would, and ask for what Tab would insert.
SHELLS = {
    "bash": """
eval "$(sentgen --show-completion)"
COMP_WORDS=({words}) COMP_CWORD={place}
$(complete -p sentgen | sed 's/.*-F \\([^ ]*\\) .*/\\1/') sentgen
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    # Without a terminal there is no Tab: what the function of the shell would be told is asked for itself.
    "zsh": """
compdef() {{ :; }}
eval "$(sentgen --show-completion)"
_arguments() {{ print -r -- "$2$1"; }}
words=({words}) CURRENT=$(({place} + 1))
_sentgen_completion
true
""",
    "fish": """
sentgen --show-completion | source
complete -C "{words}"
""",
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sentgen mod", "models"),
        ("sentgen models im", "import-arpa"),
        ("sentgen regenerate -a prim-a", "prim-arg"),
    ],
)
def test_tab(shell: str, typed: str, expected: str, tmp_path: Path) -> None:
    """What the page shows comes out."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell}; apt-get install {shell}")
    asked = SHELLS[shell].format(words=typed, place=len(typed.split()) - 1)
    here = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    told = subprocess.run(
        [program, "-c", asked],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": here, "HOME": str(tmp_path), "COLUMNS": "200"},
    )

    assert told.stderr == ""
    assert expected in told.stdout
