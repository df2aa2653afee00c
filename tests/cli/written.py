"""What the command line reads and writes."""

import csv
import gzip
from pathlib import Path

ROADS = "from,to,km\nBonn,Mainz,170\nMainz,Trier,160\nBonn,Trier,145\nTrier,Metz,100\nUlm,Metz,350\n"


def table(path: Path) -> list[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="") as file:  # type: ignore[operator]
        return list(csv.DictReader(file))
