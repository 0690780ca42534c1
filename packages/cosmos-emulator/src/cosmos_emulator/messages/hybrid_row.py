"""Batches in HybridRow, the binary format of the .NET SDK: a record for each operation or result.

Numbers are little-endian. The schemas are in HybridRowBatchSchemas.json in azure-cosmos-dotnet-v3. The tests
compare every byte with requests of the SDK and responses of its encoder.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject

Row = dict[str, str | int | float | bool]
"""The columns of a row that have a value. Variable columns, also of bytes, are text: they have UTF-8."""

_VERSION: Final = b"\x81"
_SEGMENT: Final = struct.pack("<cibi", _VERSION, 2147473648, 1, 10)
_RECORD: Final = struct.Struct("<ciiI")  # version, schema, length and CRC-32 of the row
_RECORD_SCHEMA: Final = 2147473649
_ROW: Final = struct.Struct("<ciB")  # version, schema, presence bits of the fixed and variable columns
_FALSE, _TRUE, _UINT32, _FLOAT64, _UTF8 = 0x02, 0x03, 0x0B, 0x10, 0x14
_NUMBERS: Final = {_UINT32: struct.Struct("<I"), _FLOAT64: struct.Struct("<d")}
_KINDS: Final = {0: "Create", 1: "Patch", 2: "Read", 4: "Delete", 5: "Replace", 20: "Upsert"}
_DOCUMENT: Final = 2
_MOST_BITS: Final = 32
_UNSUPPORTED: Final = ("effectivePartitionKey", "binaryId", "timeToLiveInSeconds")


@dataclass(frozen=True, slots=True)
class Schema:
    """A row's columns in order; fixed ones are int32."""

    id: int
    fixed: tuple[str, ...]
    variable: tuple[str, ...]
    sparse: tuple[str, ...]

    @property
    def layout(self) -> struct.Struct:
        """The fixed columns."""
        return struct.Struct(f"<{len(self.fixed)}i")


OPERATION: Final = Schema(
    2145473648,
    ("operationType", "resourceType"),
    ("partitionKey", "effectivePartitionKey", "id", "binaryId", "resourceBody"),
    ("indexingDirective", "ifMatch", "ifNoneMatch", "timeToLiveInSeconds", "minimalReturnPreference"),
)
RESULT: Final = Schema(
    2145473649,
    ("statusCode", "subStatusCode"),
    ("eTag", "resourceBody"),
    ("retryAfterMilliseconds", "requestCharge"),
)


def is_hybrid_row(body: bytes) -> bool:
    """Return whether the body of a batch is not JSON."""
    return body.startswith(_VERSION)


def parse_operations(body: bytes) -> Json:
    """Return the operations of a batch, in JSON or HybridRow, as the other SDKs send them. Raises 400."""
    if not is_hybrid_row(body):
        return json_text.parse(body)
    return [_operation(number, row) for number, row in enumerate(decode(OPERATION, body), start=1)]


def dump_results(results: Iterable[JsonObject]) -> bytes:
    """Encode the results that other SDKs get as JSON."""
    return encode(RESULT, map(_result, results))


def _operation(number: int, row: Row) -> JsonObject:
    kind = _KINDS.get(int(row.pop("operationType", -1)))
    if kind is None or row.pop("resourceType", None) != _DOCUMENT:
        raise _malformed(number, "it is not an operation on an item")
    for name in _UNSUPPORTED:
        if name in row:
            raise _malformed(number, f"this emulator does not support its column {name}")
    body = {"resourceBody": json_text.parse(str(row.pop("resourceBody")))} if "resourceBody" in row else {}
    return {"operationType": kind, **row, **body}


def _result(result: JsonObject) -> Row:
    row: Row = {"retryAfterMilliseconds": 0}
    row |= {name: value for name, value in result.items() if isinstance(value, int | float | str)}
    if "resourceBody" in result:
        row["resourceBody"] = json_text.dump(result["resourceBody"]).decode()
    return row


def decode(schema: Schema, body: bytes) -> Iterator[Row]:
    """Yield the rows of a body. Raises 400 that names the malformed record."""
    if not body.startswith(_SEGMENT):
        raise CosmosError(400, "The batch is not in HybridRow: its segment header is malformed.")
    reader, number = _Reader(body, len(_SEGMENT)), 0
    while reader.offset < len(body):
        number += 1
        try:
            version, record, length, checksum = _RECORD.unpack(reader.take(_RECORD.size))
            row = reader.take(length)
            if (version, record, checksum) != (_VERSION, _RECORD_SCHEMA, zlib.crc32(row)):
                raise ValueError("its header or its CRC-32 is wrong")
            decoded = _decoded(schema, _Reader(row))
        except ValueError as error:
            raise _malformed(number, str(error)) from error
        yield decoded


def _decoded(schema: Schema, reader: _Reader) -> Row:
    version, schema_id, bits = _ROW.unpack(reader.take(_ROW.size))
    columns = (*schema.fixed, *schema.variable, *schema.sparse)
    variable_end = len(columns) - len(schema.sparse)
    if (version, schema_id) != (_VERSION, schema.id) or bits >> variable_end:
        raise ValueError("its schema is wrong")
    fixed: tuple[int, ...] = schema.layout.unpack(reader.take(schema.layout.size))
    row: Row = {name: fixed[index] for index, name in enumerate(schema.fixed) if bits >> index & 1}
    for index, name in enumerate(schema.variable, start=len(fixed)):
        if bits >> index & 1:
            row[name] = reader.text()
    while not reader.is_at_end:
        code, token = reader.take(1)[0], reader.varint()
        if not variable_end < token <= len(columns):
            raise ValueError(f"its column token {token} is unknown")
        row[columns[token - 1]] = reader.sparse(code)
    return row


def encode(schema: Schema, rows: Iterable[Row]) -> bytes:
    """Return the body with these rows."""
    records = []
    for values in rows:
        row = _encoded(schema, values)
        records.append(_RECORD.pack(_VERSION, _RECORD_SCHEMA, len(row), zlib.crc32(row)) + row)
    return _SEGMENT + b"".join(records)


def _encoded(schema: Schema, row: Row) -> bytes:
    bits = sum(1 << index for index, name in enumerate((*schema.fixed, *schema.variable)) if name in row)
    parts = [
        _ROW.pack(_VERSION, schema.id, bits),
        schema.layout.pack(*(int(row.get(name, 0)) for name in schema.fixed)),
    ]
    parts += [_text(str(row[name])) for name in schema.variable if name in row]
    for token, name in enumerate(schema.sparse, start=len(schema.fixed) + len(schema.variable) + 1):
        match row.get(name):
            case bool() as flag:
                parts.append(bytes((_TRUE if flag else _FALSE, token)))
            case str() as text:
                parts.append(bytes((_UTF8, token)) + _text(text))
            case int() | float() as number:
                code = _FLOAT64 if isinstance(number, float) else _UINT32
                parts.append(bytes((code, token)) + _NUMBERS[code].pack(number))
    return b"".join(parts)


def _text(text: str) -> bytes:
    data, prefix = text.encode(), bytearray()
    length = len(data)
    while length > 0x7F:
        prefix.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes((*prefix, length)) + data


class _Reader:
    """Reads a body or a row from an offset. Raises ValueError at its end."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self._data = data
        self.offset = offset

    @property
    def is_at_end(self) -> bool:
        return self.offset == len(self._data)

    def take(self, length: int) -> bytes:
        start, self.offset = self.offset, self.offset + length
        if length < 0 or self.offset > len(self._data):
            raise ValueError("it is incomplete")
        return self._data[start : self.offset]

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.take(1)[0]) > 0x7F:
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if shift > _MOST_BITS:  # a number of megabytes would take minutes
                raise ValueError("it has a number of more than 32 bits")
        return value | byte << shift

    def text(self) -> str:
        return self.take(self.varint()).decode()

    def sparse(self, code: int) -> str | int | float | bool:
        if code in (_FALSE, _TRUE):
            return code == _TRUE
        if code == _UTF8:
            return self.text()
        if code not in _NUMBERS:
            raise ValueError(f"its type code {code} is unknown")
        number: int | float = _NUMBERS[code].unpack(self.take(_NUMBERS[code].size))[0]
        return number


def _malformed(number: int, problem: str) -> CosmosError:
    return CosmosError(400, f"Record {number} of the batch is malformed in HybridRow: {problem}.")
