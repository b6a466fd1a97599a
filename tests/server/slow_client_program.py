"""Begin to read, or to write, say so, and wait to be killed.

Run as ``python -m tests.server.slow_client_program ADDRESS TOKEN STATEMENT`` to read the first rows of a statement, or
with ``--put TABLE`` in place of the statement to send the first records for a table.
"""

from __future__ import annotations

import sys
import threading

import pyarrow as pa
from pyarrow import flight

from tests.server.clients import RawClient, command, field


def read(client: RawClient, text: str) -> None:
    reader = client.reader(client.info(command("CommandStatementQuery", field(1, text))))
    reader.read_chunk()
    print("reading", flush=True)
    threading.Event().wait()


def write(client: RawClient, table: str) -> None:
    batch = pa.record_batch({"a": list(range(10_000))})
    ingest = command("CommandStatementIngest", field(1, field(1, 1) + field(2, 2)), field(2, table))
    writer, _ = client.client.do_put(flight.FlightDescriptor.for_command(ingest), batch.schema, client.options)
    for _ in range(20):
        writer.write_batch(batch)
    print("writing", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    address, token, *rest = sys.argv[1:]
    with RawClient(address, token) as connected:
        connected.options = flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])
        write(connected, rest[1]) if rest[0] == "--put" else read(connected, rest[0])
