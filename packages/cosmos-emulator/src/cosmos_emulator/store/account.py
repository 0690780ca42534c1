"""The account: databases and containers in one directory."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from cosmos_emulator.definitions import rids
from cosmos_emulator.definitions.container import ContainerDefinition
from cosmos_emulator.definitions.secondary_index import PROPERTIES, with_status
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.partitioning.ranges import KeyRange, PartitionRange, even_ranges
from cosmos_emulator.runtime.descriptors import most_partitions
from cosmos_emulator.store.background import BackgroundWork
from cosmos_emulator.store.contents import ACCOUNT_FILE, CONTAINER_DIRECTORY
from cosmos_emulator.store.index_definition import IndexDefinition, definitions_of
from cosmos_emulator.store.items import Clock
from cosmos_emulator.store.open_partitions import OpenPartitions
from cosmos_emulator.store.partition import Partition, StoreOptions, partition_file, remove_partition_file
from cosmos_emulator.store.replicas import Lag
from cosmos_emulator.store.resources import Resource, ResourceTable, UnusableData, new_etag
from cosmos_emulator.store.schema import CANNOT_WRITE
from cosmos_emulator.store.secondary_index_progress import IndexProgress

_LOG: Final = logging.getLogger(__name__)

_UNLISTED: Final = "unlisted"  # directory of containers that the account file does not list
_LEAST_LSN: Final = "least_lsn"
_INDEX_LOG_S: Final = 7 * 24 * 3600  # the shorter retention time of continuous backups
_SCRIPT_RID_KINDS: Final = {"sprocs": rids.STORED_PROCEDURE, "triggers": rids.TRIGGER, "udfs": rids.UDF}


class Container:
    """A container's definition and its physical partitions in key order."""

    def __init__(
        self,
        database: Resource,
        resource: Resource,
        directory: Path,
        resources: ResourceTable,
        options: StoreOptions,
        log_retention_s: int | None,
    ) -> None:
        self.database = database
        self.resource = resource
        self.rid = resource.rid
        self.self_link = str(resource.body["_self"])
        """`dbs/{rid}/colls/{rid}/`."""
        self.alt_link = f"dbs/{database.id}/colls/{resource.id}"
        """`dbs/{name}/colls/{name}`."""
        self.directory = directory
        self.definition = ContainerDefinition.parse(resource.body)
        self._resources = resources
        self._options = options
        self._default_log_retention_s = log_retention_s
        self._progress: IndexProgress | None = None
        self.is_source = False  # of a global secondary index
        self.is_closed = False
        self._changing = asyncio.Lock()  # the partitions or the definition
        self._serving: set[asyncio.Event] = set()
        self._retiring: dict[Partition, asyncio.Task[None]] = {}
        ranges = resources.ranges(resource) or even_ranges(self.definition.partition_key, resource.partitions)
        self.partitions = [self._prepare(placed) for placed in ranges]
        for ancestor in {number for one in self.partitions for number in one.placed.ancestors}:
            remove_partition_file(partition_file(directory, ancestor))  # if the emulator was killed before

    @property
    def newest_id(self) -> int:
        """The highest id of a partition so far."""
        return max(number for one in self.partitions for number in (one.index, *one.placed.ancestors))

    @property
    def log_retention_s(self) -> int | None:
        """How long the change feed keeps all versions and deletes; None if it does not.

        The source of a global secondary index has them: in Azure, such an account has continuous backup.
        """
        own = self.definition.log_retention_s or self._default_log_retention_s
        return own or (_INDEX_LOG_S if self.is_source else None)

    @property
    def progress(self) -> IndexProgress:
        """How far a global secondary index has followed its source."""
        if self._progress is None:
            self._progress = IndexProgress(self.directory, durable=self._options.durable)
        return self._progress

    def partition_of(self, key: PartitionKey) -> Partition:
        """Return the physical partition of a key, for reads."""
        partitions = self.partitions  # a worker thread must not see others after a split
        return partitions[bisect_right(partitions, key.epk, key=lambda one: one.range.start) - 1]

    def partitions_in(self, key_range: KeyRange) -> list[Partition]:
        """Return the physical partitions that overlap a range, in order."""
        return [partition for partition in self.partitions if partition.range.overlaps(key_range)]

    def partition_by_id(self, range_id: str) -> Partition | None:
        """Return the physical partition by its id in `pkranges`."""
        return next((partition for partition in self.partitions if partition.id == range_id), None)

    def open(self) -> None:
        """Create or check the files of all partitions, which only the event loop can do."""
        for partition in self.partitions:
            _ = partition.lsn

    async def writable_partition_of(self, key: PartitionKey) -> Partition:
        """Return the physical partition of a key, after a split. The caller must begin its transaction at once."""
        while (split := self.partition_of(key).split) is not None:
            await split.wait()
        return self.partition_of(key)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Keep the partitions readable during a request, even if they are split."""
        done = asyncio.Event()
        self._serving.add(done)
        try:
            yield
        finally:
            self._serving.remove(done)
            done.set()

    async def split_to(self, count: int) -> None:
        """Split the widest partitions into halves until there are `count`, or until the container is deleted.

        After each split, either the parent or its children are stored.
        """
        while len(self.partitions) < count and not self.is_closed:
            # Shielded: the copying thread must not outlive its lock.
            await asyncio.shield(asyncio.create_task(self._split_widest(count)))

    async def _split_widest(self, count: int) -> None:
        async with self._changing:
            if self.is_closed or len(self.partitions) >= count:
                return
            parent = max(self.partitions, key=lambda one: one.placed.high - one.placed.low)
            children = [self._prepare(placed) for placed in parent.placed.halves(self.newest_id + 1)]
            place = self.partitions.index(parent)
            arranged = [*self.partitions[:place], *children, *self.partitions[place + 1 :]]

            def commit() -> None:
                for child in children:
                    _ = child.lsn  # opened, like the others
                self._resources.replace_ranges(self.resource, [one.placed for one in arranged])
                self.partitions = arranged

            await parent.divide(children, commit)
            self._retiring[parent] = asyncio.create_task(self._retire(parent))

    async def _retire(self, parent: Partition) -> None:
        for request in list(self._serving):
            await request.wait()
        await parent.discard()
        del self._retiring[parent]

    async def apply_definition(self, definition: ContainerDefinition) -> None:
        """Apply a changed definition, also to existing items."""
        async with self._changing:
            before, self.definition = self.definition, definition
            old, new = before.indexing, definition.indexing
            for partition in self.partitions:
                if definition.default_ttl_s != before.default_ttl_s:
                    await partition.apply_default_ttl()
                if definition.log_retention_s != before.log_retention_s:
                    await partition.apply_log_retention()
                if (new.document, new.computed) != (old.document, old.computed):
                    await partition.apply_policy()

    async def become_source(self) -> None:
        """Log all changes from now on, for a global secondary index."""
        async with self._changing:
            self.is_source = True
            for partition in self.partitions:
                await partition.apply_log_retention()

    async def copy_to(self, directory: Path) -> None:
        """Copy the files to a new directory. No write may run."""
        if self.definition.source is not None:
            self.progress.copy_to(directory)
        for partition in self.partitions:
            await partition.copy_to(directory)

    async def close(self) -> None:
        """Close the files."""
        async with self._changing:
            self.is_closed = True
            for partition, retirement in list(self._retiring.items()):
                retirement.cancel()
                await partition.discard()
            for partition in self.partitions:
                await partition.close()
            if self._progress is not None:
                self._progress.close()
                self._progress = None

    def _prepare(self, placed: PartitionRange) -> Partition:
        keys = placed.keys(self.definition.partition_key)
        return Partition(placed, keys, self.directory, self._options, self)

    @property
    def default_ttl_s(self) -> int | None:
        """The default TTL of items."""
        return self.definition.default_ttl_s

    def named_indexes(self) -> list[IndexDefinition]:
        """Return the indexes that the policy names."""
        return definitions_of(self.definition.indexing, self.definition.partition_key.paths)

    def may_index(self, definition: IndexDefinition) -> bool:
        """Return whether the policy allows an index."""
        policy = self.definition.indexing
        return all(policy.indexes(part.path) and policy.is_stored(part.path) for part in definition.parts)


class Account:
    """Databases, containers and their contents, in one directory."""

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        *,
        durable: bool,
        replica_lag: Lag = lambda: None,
        purge_interval_s: float = 5.0,
        log_retention_s: int | None = None,
        replaces: Account | None = None,
    ) -> None:
        """Open the account in a directory, or create it.

        `log_retention_s` is how long containers without a `changeFeedPolicy` log all changes, or None.
        If it `replaces` the contents of another, its rids and LSNs continue those, for clients that have seen them.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnusableData(f"{CANNOT_WRITE.format(directory)} ({error.strerror})") from error
        self.directory = directory
        self._clock = clock
        self._log_retention_s = log_retention_s
        self.resources = ResourceTable(directory / ACCOUNT_FILE, durable=durable)
        if replaces is not None:
            # LSNs start at the time in microseconds (schema.py), so all LSNs so far are lower.
            self.resources.raise_numbers({**replaces.resources.numbers(), _LEAST_LSN: time.time_ns() // 1000})
        self._containers: dict[str, Container] = {}
        self._by_names: dict[tuple[str, ...], Container] = {}
        open_partitions = OpenPartitions(most_partitions())
        self.background = BackgroundWork(open_partitions, purge_interval_s)
        self._options = StoreOptions(
            clock,
            durable=durable,
            replica_lag=replica_lag,
            least_lsn=self.resources.numbers().get(_LEAST_LSN, 0),
            on_chore=self.background.wake,
            on_open=open_partitions.add,
        )
        for database in self.resources.children("dbs", ""):
            for resource in self.resources.children("colls", database.rid):
                self._open(database, resource)
        for index in self.containers:
            if (source := self.source_of(index)) is not None:
                source.is_source = True  # before its partitions are opened
        self._set_aside_unlisted()

    @property
    def containers(self) -> list[Container]:
        """All containers of all databases."""
        return list(self._containers.values())

    def container(self, rid: str) -> Container:
        """Return the container with this rid."""
        return self._containers[rid]

    def find_container(self, ids: tuple[str, ...], *, by_rid: bool) -> Container | None:
        """Return the container by the names of its database and itself, or by their rids."""
        if not by_rid:
            return self._by_names.get(ids)
        found = self._containers.get(ids[-1])
        return found if found is not None and ids == (found.database.rid, found.rid) else None

    def add_database(self, body: JsonObject) -> Resource:
        """Create a database. Its random number distinguishes it from deleted databases."""
        rid = rids.database_rid(secrets.randbits(32))
        links: JsonObject = {"_self": f"dbs/{rid}/", "_colls": "colls/", "_users": "users/"}
        resource = Resource(rid, "dbs", "", self._stamped(body, rid, links))
        self.resources.add(resource)
        return resource

    def add_container(self, database: Resource, body: JsonObject, partitions: int) -> Container:
        """Create a container with a completed body. Raises 400, 409."""
        ContainerDefinition.parse(body)
        rid = rids.container_rid(database.rid, self.resources.next_number("containers"))
        links: JsonObject = {
            "_self": f"dbs/{database.rid}/colls/{rid}/",
            "_docs": "docs/",
            "_sprocs": "sprocs/",
            "_triggers": "triggers/",
            "_udfs": "udfs/",
            "_conflicts": "conflicts/",
        }
        resource = Resource(rid, "colls", database.rid, self._stamped(body, rid, links), partitions)
        self.resources.add(resource)
        return self._open(database, resource)

    def source_of(self, index: Container) -> Container | None:
        """Return the container that fills a global secondary index; None for another container."""
        if index.definition.source is None:
            return None
        found = self.resources.find("colls", index.database.rid, index.definition.source.source_id)
        return None if found is None else self._containers.get(found.rid)

    def indexes_of(self, source: Container) -> list[Container]:
        """Return the global secondary indexes of a container."""
        return [one for one in self.containers if self.source_of(one) is source]

    def show_status(self, index: Container, status: str) -> None:
        """Show the state of a global secondary index in its body."""
        definition, body = index.definition.source, index.resource.body
        if definition is not None and body[PROPERTIES[0]] != definition.as_json(status):
            self.resources.replace(index.resource, with_status(body, definition, status))

    def add_script(self, container: Container, kind: str, body: JsonObject) -> Resource:
        """Create a stored procedure (`sprocs`), trigger or UDF. Raises 409."""
        number = self.resources.next_number(kind)
        rid = rids.child_rid(container.rid, _SCRIPT_RID_KINDS[kind], number)
        links: JsonObject = {"_self": f"{container.self_link}{kind}/{rid}/"}
        resource = Resource(rid, kind, container.rid, self._stamped(body, rid, links))
        self.resources.add(resource)
        return resource

    def add_user(self, database: Resource, body: JsonObject) -> Resource:
        """Create a user of a database. Raises 409."""
        rid = rids.user_rid(database.rid, self.resources.next_number("users"))
        links: JsonObject = {"_self": f"dbs/{database.rid}/users/{rid}/", "_permissions": "permissions/"}
        user = Resource(rid, "users", database.rid, self._stamped(body, rid, links))
        self.resources.add(user)
        return user

    def add_permission(self, user: Resource, body: JsonObject) -> Resource:
        """Create a permission of a user. Raises 409."""
        rid = rids.child_rid(user.rid, rids.PERMISSION, self.resources.next_number("permissions"))
        links: JsonObject = {"_self": f"{user.body['_self']}permissions/{rid}/"}
        permission = Resource(rid, "permissions", user.rid, self._stamped(body, rid, links))
        self.resources.add(permission)
        return permission

    def add_offer(self, owner: Resource, content: JsonObject) -> Resource:
        """Create the offer of a database or container."""
        rid = rids.encode(self.resources.next_number("offers").to_bytes(3, "big"))
        body: JsonObject = {
            "id": rid,
            "resource": owner.body["_self"],
            "offerType": "Invalid",
            "offerResourceId": owner.rid,
            "offerVersion": "V2",
            "content": content,
        }
        resource = Resource(rid, "offers", "", self._stamped(body, rid, {"_self": f"offers/{rid}/"}))
        self.resources.add(resource)
        return resource

    def containers_of(self, offer: Resource) -> list[Container]:
        """Return the containers that use an offer: its own, or its database's containers without an own offer."""
        owner = offer.body["offerResourceId"]
        shared = (one for one in self.containers if one.database.rid == owner)
        return [
            *(one for one in self.containers if one.rid == owner),
            *(one for one in shared if self.resources.offer_of(one.resource) is None),
        ]

    def replace(self, resource: Resource, body: JsonObject) -> None:
        """Replace a resource's body; its rid and links do not change."""
        kept: JsonObject = {name: value for name, value in resource.body.items() if name.startswith("_")}
        self.resources.replace(resource, self._stamped(body, resource.rid, kept))

    async def replace_container(self, container: Container, body: JsonObject) -> None:
        """Replace the indexing policy or default TTL, also for existing items."""
        definition = ContainerDefinition.parse(body)
        self.replace(container.resource, body)
        await container.apply_definition(definition)

    async def remove_container(self, container: Container) -> None:
        """Delete a container with its items, scripts and throughput."""
        self._unlist([container])
        await _delete_files(container)

    async def remove_database(self, database: Resource) -> None:
        """Delete a database with its containers and users. Requests no longer find them, even before this returns."""
        users = self.resources.children("users", database.rid)
        permissions = [one for user in users for one in self.resources.children("permissions", user.rid)]
        containers = [self._containers[one.rid] for one in self.resources.children("colls", database.rid)]
        self._unlist(containers, *permissions, *users, *self._with_offer(database))
        for container in containers:
            await _delete_files(container)

    def remove_user(self, user: Resource) -> None:
        """Delete a user with its permissions."""
        self.resources.remove(*self.resources.children("permissions", user.rid), user)

    async def copy_to(self, directory: Path) -> None:
        """Copy the account to an empty directory. No request may run."""
        self.resources.copy_to(directory / ACCOUNT_FILE)
        for container in self._containers.values():
            await container.copy_to(directory / container.directory.name)

    async def close(self) -> None:
        """Close all files."""
        await self.background.close()
        for container in self._containers.values():
            await container.close()
        self.resources.close()

    def _unlist(self, containers: Sequence[Container], *others: Resource) -> None:
        """Remove containers with what belongs to them, and other resources: all, or none if it fails."""
        removed = list(others)
        for container in containers:
            for kind in _SCRIPT_RID_KINDS:
                removed += self.resources.children(kind, container.rid)
            removed += self._with_offer(container.resource)
        self.resources.remove(*removed)
        for container in containers:
            del self._containers[container.rid]
            del self._by_names[container.database.id, container.resource.id]

    def _with_offer(self, resource: Resource) -> list[Resource]:
        offer = self.resources.offer_of(resource)
        return [resource] if offer is None else [offer, resource]

    def _open(self, database: Resource, resource: Resource) -> Container:
        # Hexadecimal: base64 rids can differ only by case, which some file systems ignore.
        directory = self.directory / (rids.decode(resource.rid) or b"").hex()
        container = Container(database, resource, directory, self.resources, self._options, self._log_retention_s)
        self._containers[resource.rid] = container
        self._by_names[database.id, resource.id] = container
        return container

    def _set_aside_unlisted(self) -> None:
        """Move the directories of unknown containers, such as after an interrupted deletion, but never delete them."""
        known = {container.directory for container in self._containers.values()}
        for directory in list(self.directory.iterdir()):
            if CONTAINER_DIRECTORY.fullmatch(directory.name) and directory not in known and directory.is_dir():
                target = self.directory / _UNLISTED / directory.name
                for number in count(2):
                    if not target.exists():
                        break
                    target = target.with_name(f"{directory.name}-{number}")
                target.parent.mkdir(exist_ok=True)
                directory.rename(target)
                _LOG.warning(
                    "moved %s to %s, because account.sqlite does not list this container; delete it if unneeded",
                    directory,
                    target,
                )

    def _stamped(self, body: JsonObject, rid: str, links: JsonObject) -> JsonObject:
        own: JsonObject = {name: value for name, value in body.items() if not name.startswith("_")}
        return {**own, **links, "_rid": rid, "_etag": new_etag(), "_ts": int(self._clock())}


async def _delete_files(container: Container) -> None:
    await container.close()
    shutil.rmtree(container.directory, ignore_errors=True)
