"""A list of notes: another app on the platform, with one container, two routes and one change feed."""

from __future__ import annotations

from typing import ClassVar

import azure.functions as func

from shared.platform.data.idempotency import create_recorded, idempotency_record, new_id, require_recorded
from shared.platform.data.pages import read_page
from shared.platform.database.client import open_container
from shared.platform.database.container import patch_of
from shared.platform.database.refusals import ItemExists
from shared.platform.deliveries.change_feed import ChangeFeed, change_feed_trigger
from shared.platform.deliveries.delivery import handle_each, run_delivery
from shared.platform.errors import NotFound, Problem
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.endpoints import Endpoint
from shared.platform.http.responses import Response, page_response, resource_response
from shared.platform.models import Item, RequestModel, Resource, now
from shared.platform.settings import settings

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
FEED = ChangeFeed("on_notes_changed", "notes", partition_key="shelf")


class ShelfNotFound(NotFound):
    """No shelf has this ID."""

    problem = Problem(404, "Shelf not found")
    kind = "shelf"


class NewNote(RequestModel):
    """The body that creates a note."""

    text: str


class Note(Resource):
    """A note. The change feed counts its words."""

    TYPE: ClassVar[str] = "note"

    id: str
    type: str
    shelf: str
    text: str
    words: int = 0
    creation_date: str


class NotesEndpoint(Endpoint):
    """An endpoint whose path can name a shelf."""

    not_found: ClassVar[dict[str, type[NotFound]]] = {"shelf": ShelfNotFound}


@app.route(route="api/shelves/{shelf}/notes", methods=["POST"])
@NotesEndpoint(body=NewNote, returns=Note)
async def create_note(call: Call[NewNote]) -> Response:
    """Create a note."""
    notes, shelf, key = await open_container("notes"), call.path["shelf"], call.idempotency_key
    note_id = new_id("note", key, shelf)
    note: Item = {"id": note_id, "type": "note", "shelf": shelf, "text": call.body.text, "creationDate": now()}
    record = idempotency_record(note_id, call.body, shelf=shelf) if key else None
    try:
        note = await create_recorded(notes, note, record, shelf)
    except ItemExists:
        await require_recorded(notes, record, shelf)
        note = await notes.read(note_id, shelf) or note
    return resource_response(Note, note, location=f"/api/shelves/{shelf}/notes")


@app.route(route="api/shelves/{shelf}/notes", methods=QUERY)
@NotesEndpoint(returns=Note, paged=True)
async def list_notes(call: Call[None]) -> Response:
    """List the notes of a shelf, newest first."""
    notes = await open_container("notes")
    page = await read_page(notes, Note, call.path["shelf"], Note.TYPE, limit=call.limit, cursor=call.cursor)
    return page_response(page, Note)


@change_feed_trigger(app, FEED, "leases")
async def on_notes_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Count the words of new notes."""
    notes, failures = await open_container("notes"), await open_container("failures")

    async def count(note: Item) -> None:
        if note["type"] == Note.TYPE and "words" not in note:
            counted = patch_of({"words": len(note["text"].split())})
            await notes.patch(note["id"], note["shelf"], counted, etag=note["_etag"])

    async def handle(delivered: list[Item]) -> None:
        await handle_each(FEED, failures, delivered, count)

    await run_delivery(FEED, changes, handle, deadline_s=settings().delivery_deadline_s)
