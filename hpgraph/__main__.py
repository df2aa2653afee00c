"""``python -m hpgraph``: the command."""

import sys

from hpgraph.cli import main

sys.exit(main())
