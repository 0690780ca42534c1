"""Fill a provisioned database with a generated blog, up to now.

    python -m bench.seed --users 1000

It has the settings of manage.py. The same seed and sizes generate the same blog. To continue an interrupted run,
repeat it with the same options.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime

from bench.generated.plan import Range, SeedPlan
from bench.servers import REPOSITORY
from management.account import open_client, open_containers
from management.configuration import read_configuration
from management.local_settings import NAME
from management.seeding import Seeded, seed
from shared.settings import Settings


async def seed_database(settings: Settings, plan: SeedPlan) -> Seeded:
    """Write the plan to a provisioned database."""
    async with open_client(settings) as client:
        return await seed(await open_containers(client, settings.database), plan)


def main() -> None:
    default = SeedPlan()
    parser = argparse.ArgumentParser(prog="python -m bench.seed", description=__doc__.partition("\n")[0])
    parser.add_argument("--users", type=int, default=default.users)
    for name in ("posts_per_user", "comments_per_post", "likes_per_post"):
        span = getattr(default, name)
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=Range.parse, default=span, metavar="A-B", help=f"default: {span}")
    parser.add_argument("--seed", type=int, default=default.seed)
    plan = replace(default, **vars(parser.parse_args()), now=datetime.now(UTC).replace(microsecond=0))
    settings = read_configuration(REPOSITORY / NAME)
    written = asyncio.run(seed_database(settings, plan))
    sys.stdout.write(f"Seeded {written} in database {settings.database} of {settings.account.endpoint}.\n")


if __name__ == "__main__":
    main()
