"""``python -m hpgraph``: the command."""

from __future__ import annotations

import sys

from hpgraph.cli import main

sys.exit(main())
