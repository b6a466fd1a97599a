"""Read the first rows of a statement, say so, and wait to be killed: ``python -m tests.server.slow_client_program``.

Arguments: the address, the token, the statement.
"""

from __future__ import annotations

import sys
import threading

from tests.server.clients import RawClient, command, field

if __name__ == "__main__":
    with RawClient(sys.argv[1], sys.argv[2]) as client:
        client.options = type(client.options)(headers=[(b"authorization", f"Bearer {sys.argv[2]}".encode())])
        reader = client.reader(client.info(command("CommandStatementQuery", field(1, sys.argv[3]))))
        reader.read_chunk()
        print("reading", flush=True)
        threading.Event().wait()
