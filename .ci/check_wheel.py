"""Build the wheel and check that themes, templates, phrases and tables travel with it, and that it stays small."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LARGEST_WHEEL = 12_000_000
TABLE = "workbench/engine/providers/embedding/table"
NEEDED = {
    f"{TABLE}/{name}" for name in ("vectors.npy", "scales.npy", "pieces.txt", "table.json", "LICENSE.txt")
}


def main() -> int:
    """Return 0 when every kind of data file beside the code is in the wheel, and nothing makes it large."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, "."]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        names = set(zipfile.ZipFile(wheel).namelist())
        size = wheel.stat().st_size
    expected = {
        path.as_posix()
        for path in Path("workbench").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not any(part[0] in "._" for part in path.parts[:-1])
    }
    expected |= {f"workbench/tui/themes_packaged/{theme.name}" for theme in Path("themes").glob("*.toml")}
    expected |= NEEDED
    missing = sorted(expected - names)
    for path in missing:
        print(f"missing from the wheel: {path}")
    if size > LARGEST_WHEEL:
        print(f"the wheel has {size:,} bytes, more than {LARGEST_WHEEL:,}")
    return 1 if missing or size > LARGEST_WHEEL else 0


if __name__ == "__main__":
    sys.exit(main())
