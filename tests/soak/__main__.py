"""``python -m tests.soak --cases 20000 --seed 1``."""

import sys

from tests.soak.run import main

if __name__ == "__main__":
    sys.exit(main())
