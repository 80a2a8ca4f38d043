"""python -m podless.cli."""

import sys

from podless.cli import main

sys.exit(main())
