"""python -m podless."""

import sys

from podless.cli import main

sys.exit(main())
