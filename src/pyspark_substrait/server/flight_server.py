"""The methods that pyarrow calls when a client does: each looks at the message, passes it on, and answers it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn

import pyarrow as pa
from pyarrow import flight

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.server import metadata
from pyspark_substrait.server.access_control import ANYBODY, AcceptingHandler, AccessControl, AccessFactory, Login
from pyspark_substrait.server.handles import Handles
from pyspark_substrait.server.ingestion import Ingestion, received
from pyspark_substrait.server.messages import make, pack, parse, unpack
from pyspark_substrait.server.record_sets import changed_by_each_record, of_each_record
from pyspark_substrait.server.refusals import Cancelled, InvalidArgument, NotFound, Unimplemented
from pyspark_substrait.server.requests import Request, Requests, Rows
from pyspark_substrait.server.sql_info import Fact
from pyspark_substrait.server.statements import Engine, Statement
from pyspark_substrait.spark.catalog_listing import current

__all__ = ["FlightServer", "Transport"]

_CALL: Final = "access"
_TICKETS: Final = 10_000
_TICKET_SECONDS: Final = 600.0
_PREPARED: Final = 10_000
_CANCELLED, _CANCELLING = 1, 2
_CLOSED, _NOT_CLOSEABLE = 1, 3
_INVALID_NAME, _INVALID_VALUE = 1, 2
_OPTIONS: Final = ("catalog", "schema")

_TRANSACTIONS: Final = "this server has no transactions: each statement stands by itself"
_REFUSED_ACTIONS: Final[Mapping[str, str]] = {
    "BeginTransaction": _TRANSACTIONS,
    "EndTransaction": _TRANSACTIONS,
    "BeginSavepoint": _TRANSACTIONS,
    "EndSavepoint": _TRANSACTIONS,
    "RenewFlightEndpoint": "results of this server cannot be kept for longer: send the statement again",
}


@dataclass(frozen=True, kw_only=True)
class Transport:
    """How clients reach the server.

    Args:
        location: where it listens.
        certificate: its certificate and key, both in PEM; None without encryption.
        client_authority: the certificate of the authority of clients' certificates; None if clients need none.
    """

    location: str
    certificate: tuple[bytes, bytes] | None = None
    client_authority: bytes | None = None


@dataclass(eq=False)
class _Ticket:
    """A statement whose rows a client may fetch.

    ``ready`` are its rows, analysed already in the session ``spark``; the first fetch takes them. ``running`` are the
    requests that fetch.
    """

    statement: Statement
    values: pa.RecordBatch | None = None
    spark: object = None
    ready: list[Rows] = field(default_factory=list)
    running: list[Request] = field(default_factory=list)


@dataclass(eq=False)
class _Prepared:
    """A prepared statement, and the values that are bound to its parameters."""

    statement: Statement
    values: pa.RecordBatch | None = None


class FlightServer(flight.FlightServerBase):  # type: ignore[misc]
    """The server. It listens as soon as it is made.

    Args:
        engine: where statements run.
        transport: how clients reach it.
        access: who may call.
        requests: how many calls there may be.
        facts: what it says of itself.
        statement_seconds: after how many seconds without use a prepared statement is forgotten.
    """

    def __init__(
        self,
        engine: Engine,
        transport: Transport,
        access: AccessControl,
        requests: Requests,
        facts: Mapping[int, Fact],
        statement_seconds: float,
    ) -> None:
        self._engine = engine
        self._access = access
        self._requests = requests
        self._facts = facts
        self._tickets: Handles[_Ticket] = Handles("ticket", _TICKETS, _TICKET_SECONDS)
        self._prepared: Handles[_Prepared] = Handles("prepared statement", _PREPARED, statement_seconds)
        self._actions: Mapping[str, Callable[[Any, bytes], list[bytes]]] = {
            "CreatePreparedStatement": self._create_prepared,
            "CreatePreparedSubstraitPlan": self._create_prepared,
            "ClosePreparedStatement": self._close_prepared,
            "CancelFlightInfo": self._cancel_flight_info,
            "CancelQuery": self._cancel_query,
            "CloseSession": self._close_session,
            "GetSessionOptions": self._get_session_options,
            "SetSessionOptions": self._set_session_options,
        }
        super().__init__(
            transport.location,
            auth_handler=None if access.is_open else AcceptingHandler(),
            tls_certificates=None if transport.certificate is None else [transport.certificate],
            verify_client=transport.client_authority is not None,
            root_certificates=transport.client_authority,
            middleware={_CALL: AccessFactory(access)},
        )

    # commands --------------------------------------------------------------------------------------------------------

    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """Return where the rows of a command are; a statement is analysed, and not run."""
        command = _command(descriptor)
        if metadata.is_metadata(command):
            return _flight_info(metadata.schema_of(command), descriptor, descriptor.command)

        def prepare(request: Request) -> tuple[pa.Schema, str]:
            statement, values = self._statement(command, context, request)
            ticket = _Ticket(statement, values, statement.engine.spark)
            if statement.changes:  # it runs when its rows are fetched
                schema = statement.schema()
            else:
                ticket.ready.append(of_each_record(statement, values))
                schema = ticket.ready[0].schema
            return schema, self._tickets.add(ticket, _user(context))

        schema, handle = self._perform(context, "GetFlightInfo", prepare)
        ticket = pack(make("TicketStatementQuery", statement_handle=handle.encode()))
        return _flight_info(schema, descriptor, ticket)

    def get_schema(self, context: Any, descriptor: Any) -> Any:
        """Return the schema of a command's rows."""
        command = _command(descriptor)
        if metadata.is_metadata(command):
            return flight.SchemaResult(metadata.schema_of(command))

        def schema(request: Request) -> pa.Schema:
            statement, values = self._statement(command, context, request)
            if statement.changes or (values is None and len(statement.parameters)):
                return statement.schema()
            return of_each_record(statement, values).schema

        return flight.SchemaResult(self._perform(context, "GetSchema", schema))

    def do_get(self, context: Any, ticket: Any) -> Any:
        """Return the rows of a ticket; a statement runs now."""
        command = unpack(ticket.ticket)
        if metadata.is_metadata(command):

            def answer(request: Request) -> Rows:
                request.subject = command.DESCRIPTOR.name
                batch = metadata.answer(command, self._engine_of(context).spark, self._facts)
                return Rows(batch.schema, lambda: iter([batch]), limited=False)

            return self._streamed(context, answer)
        if command.DESCRIPTOR.name != "TicketStatementQuery":
            raise InvalidArgument(f"a {command.DESCRIPTOR.name} is no ticket: ask for one with GetFlightInfo")
        handle, user = command.statement_handle, _user(context)
        kept = self._tickets.get(handle, user)
        if kept.statement.changes:  # it runs once, whoever asks again
            self._tickets.remove(handle, user)

        def rows(request: Request) -> Rows:
            request.subject = _subject(kept.statement)
            kept.running.append(request)
            if kept.spark is kept.statement.engine.spark:  # not another one, because the first has gone
                with suppress(IndexError):  # it was fetched before, or changes something
                    return kept.ready.pop()
            return of_each_record(kept.statement, kept.values)

        return self._streamed(context, rows)

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Carry out a statement that changes something, or bind the parameters of a prepared one."""
        command = _command(descriptor)
        match command.DESCRIPTOR.name:
            case "CommandStatementUpdate" | "CommandStatementSubstraitPlan":
                count = self._perform(context, "DoPut", lambda request: self._changed(command, context, request))
                _answer(writer, "DoPutUpdateResult", record_count=_count(context, count))
            case "CommandPreparedStatementUpdate":
                prepared = self._prepared.get(command.prepared_statement_handle, _user(context))
                if len(prepared.statement.parameters):
                    prepared.values = _records(reader, prepared.statement, self._engine.limits.message_bytes)
                count = self._perform(context, "DoPut", lambda request: self._changed(command, context, request))
                _answer(writer, "DoPutUpdateResult", record_count=_count(context, count))
            case "CommandPreparedStatementQuery":
                handle = command.prepared_statement_handle
                prepared = self._prepared.get(handle, _user(context))
                prepared.values = _records(reader, prepared.statement, self._engine.limits.message_bytes)
                _answer(writer, "DoPutPreparedStatementResult", prepared_statement_handle=handle)
            case "CommandStatementIngest":
                _refuse_transaction(command)
                engine = self._engine_of(context)
                ingestion = Ingestion.of(command, engine)
                with received(reader, engine.limits.ingestion_bytes) as records:
                    _refuse_if_gone(context)
                    count = self._perform(context, "DoPut", lambda request: ingestion.write(engine, records))
                _answer(writer, "DoPutUpdateResult", record_count=count)
            case other:
                raise InvalidArgument(f"a {other} is nothing to put")

    def _changed(self, command: Any, context: Any, request: Request) -> int:
        statement, values = self._statement(command, context, request)
        return changed_by_each_record(statement, values, request)

    def _statement(self, command: Any, context: Any, request: Request) -> tuple[Statement, pa.RecordBatch | None]:
        """Return the statement of a command, and the values that are bound to its parameters."""
        statement: Statement
        values: pa.RecordBatch | None = None
        match command.DESCRIPTOR.name:
            case "CommandStatementQuery" | "CommandStatementUpdate" | "ActionCreatePreparedStatementRequest":
                _refuse_transaction(command)
                statement = self._engine_of(context).sql(command.query)
            case "CommandStatementSubstraitPlan" | "ActionCreatePreparedSubstraitPlanRequest":
                _refuse_transaction(command)
                statement = self._engine_of(context).plan(command.plan)
            case "CommandPreparedStatementQuery" | "CommandPreparedStatementUpdate":
                prepared = self._prepared.get(command.prepared_statement_handle, _user(context))
                statement, values = prepared.statement, prepared.values
            case other:
                raise InvalidArgument(f"a {other} is no statement")
        request.subject = _subject(statement)
        return statement, values

    # actions ---------------------------------------------------------------------------------------------------------

    def list_actions(self, context: Any) -> list[tuple[str, str]]:
        """Return the names of the actions."""
        return [(name, "Arrow Flight SQL") for name in self._actions]

    def do_action(self, context: Any, action: Any) -> Iterator[bytes]:
        """Carry out an action."""
        name = action.type
        if name in _REFUSED_ACTIONS:
            raise Unimplemented(_REFUSED_ACTIONS[name])
        if name not in self._actions:
            raise Unimplemented(f"this server has no action {ascii(name)[:100]}")
        return iter(self._actions[name](context, action.body.to_pybytes()))

    def _create_prepared(self, context: Any, body: bytes) -> list[bytes]:
        command = _expected(body, "ActionCreatePreparedStatementRequest", "ActionCreatePreparedSubstraitPlanRequest")

        def prepare(request: Request) -> tuple[str, Statement, pa.Schema]:
            statement, _ = self._statement(command, context, request)
            schema = statement.schema()
            if not statement.changes and not len(statement.parameters):
                schema = statement.analysed(None).schema  # so that errors come now
            return self._prepared.add(_Prepared(statement), _user(context)), statement, schema

        handle, statement, schema = self._perform(context, "CreatePreparedStatement", prepare)
        result = make(
            "ActionCreatePreparedStatementResult",
            prepared_statement_handle=handle.encode(),
            dataset_schema=_serialized(schema),
            parameter_schema=_serialized(statement.parameters),
            is_update=statement.changes,
        )
        return [pack(result)]

    def _close_prepared(self, context: Any, body: bytes) -> list[bytes]:
        command = _expected(body, "ActionClosePreparedStatementRequest")
        self._prepared.remove(command.prepared_statement_handle, _user(context))
        return []

    def _cancel_flight_info(self, context: Any, body: bytes) -> list[bytes]:
        status = self._cancelled(context, parse("CancelFlightInfoRequest", body).info)
        return [make("CancelFlightInfoResult", status=status).SerializeToString()]

    def _cancel_query(self, context: Any, body: bytes) -> list[bytes]:
        status = self._cancelled(context, _expected(body, "ActionCancelQueryRequest").info)
        return [pack(make("ActionCancelQueryResult", result=status))]

    def _cancelled(self, context: Any, content: bytes) -> int:
        """Cancel what runs for a FlightInfo, forget its tickets, and return the status of that."""
        try:
            endpoints = flight.FlightInfo.deserialize(content).endpoints
        except (pa.ArrowException, ValueError, OSError):
            raise InvalidArgument("what is to be cancelled is no FlightInfo") from None
        status = _CANCELLED
        for endpoint in endpoints:
            command = unpack(endpoint.ticket.ticket)
            if command.DESCRIPTOR.name != "TicketStatementQuery":
                raise NotFound("metadata is answered at once: there is nothing to cancel")
            for request in self._tickets.remove(command.statement_handle, _user(context)).running:
                if not request.done.is_set():
                    request.stop(Cancelled("the query was cancelled"))
                    status = _CANCELLING
        return status

    def _close_session(self, context: Any, body: bytes) -> list[bytes]:
        parse("CloseSessionRequest", body)
        ended = self._access.end(context.get_middleware(_CALL).headers)
        return [make("CloseSessionResult", status=_CLOSED if ended else _NOT_CLOSEABLE).SerializeToString()]

    def _get_session_options(self, context: Any, body: bytes) -> list[bytes]:
        parse("GetSessionOptionsRequest", body)
        engine = self._engine_of(context)
        options = self._perform(context, "GetSessionOptions", lambda request: _options(engine))
        entries = [
            make("SessionOptionEntry", key=name, value=make("SessionOptionValue", string_value=value))
            for name, value in options.items()
        ]
        return [make("GetSessionOptionsResult", session_options=entries).SerializeToString()]

    def _set_session_options(self, context: Any, body: bytes) -> list[bytes]:
        """Set the catalog and the schema of a login; without one, they can only be set to what they are."""
        errors: dict[str, int] = {}
        values: dict[str, str] = {}
        for entry in parse("SetSessionOptionsRequest", body).session_options:
            if entry.key not in _OPTIONS:
                errors[entry.key] = _INVALID_NAME
            elif any(kind.name != "string_value" for kind, _ in entry.value.ListFields()):
                errors[entry.key] = _INVALID_VALUE
            else:
                values[entry.key] = entry.value.string_value
        if values:
            login = context.get_middleware(_CALL).caller.login
            errors |= self._perform(context, "SetSessionOptions", lambda request: self._set_place(login, values))
        entries = [
            make("SessionOptionErrorEntry", key=name, value=make("SessionOptionError", value=number))
            for name, number in errors.items()
        ]
        return [make("SetSessionOptionsResult", errors=entries).SerializeToString()]

    def _set_place(self, login: Login | None, values: Mapping[str, str]) -> dict[str, int]:
        """Set the catalog and schema of a login, empty ones to those of the server, and return the errors by option.

        Raises:
            Unimplemented: there is no login, or its session can't be copied.
        """
        now = _options(self._engine if login is None else self._engine_at(login.place))
        own = _options(self._engine)
        catalog = values.get("catalog", now["catalog"]) or own["catalog"]
        same = catalog == now["catalog"]
        schema = values.get("schema", now["schema"] if same else "") or (
            own["schema"] if catalog == own["catalog"] else ""
        )
        if {"catalog": catalog, "schema": schema} == now:
            return {}
        if login is None:
            raise Unimplemented(
                "catalog and schema are set for a login: connect with a user and a password, or name them in statements"
            )
        try:
            login.place = current(self._engine.backend.session_at(catalog, schema))
        except SubstraitError:
            return dict.fromkeys(values, _INVALID_VALUE)
        return {}

    # what the standard doesn't use -----------------------------------------------------------------------------------

    def list_flights(self, context: Any, criteria: bytes) -> NoReturn:
        """Refuse it."""
        raise Unimplemented("this server lists no flights: ask for its tables with CommandGetTables")

    def do_exchange(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> NoReturn:
        """Refuse it."""
        raise Unimplemented("this server has no DoExchange: Flight SQL does not use it")

    # -----------------------------------------------------------------------------------------------------------------

    def _engine_of(self, context: Any) -> Engine:
        """Return the engine for a call, with the catalog and schema of its login."""
        login = context.get_middleware(_CALL).caller.login
        return self._engine_at(None if login is None else login.place)

    def _engine_at(self, place: tuple[str, str] | None) -> Engine:
        return self._engine if place is None else replace(self._engine, place=place)

    def _perform(self, context: Any, method: str, work: Callable[[Request], Any]) -> Any:
        work = self._engine.backend.watching(work)
        return self._requests.perform(context, _user(context), method, work)

    def _streamed(self, context: Any, work: Callable[[Request], Rows]) -> Any:
        work = self._engine.backend.watching_rows(work)
        schema, batches = self._requests.stream(context, _user(context), "DoGet", work)
        return flight.GeneratorStream(schema, batches)


def _options(engine: Engine) -> dict[str, str]:
    return dict(zip(_OPTIONS, current(engine.spark), strict=True))


def _user(context: Any) -> str:
    user: str = context.get_middleware(_CALL).caller.user
    if user != ANYBODY:
        return user
    return context.peer_identity().decode("utf-8", "replace") or user  # that of its certificate


def _count(context: Any, count: int) -> int:
    """Return a record count for a client. The JDBC driver executes a statement again whose count is -1, for unknown."""
    agent = "".join(context.get_middleware(_CALL).headers.get("user-agent", []))
    return 0 if count < 0 and "grpc-java" in agent else count


def _command(descriptor: Any) -> Any:
    if descriptor.descriptor_type is not flight.DescriptorType.CMD and descriptor.descriptor_type != 2:
        raise InvalidArgument("this server takes commands of Flight SQL, and no paths")
    return unpack(descriptor.command)


def _expected(body: bytes, *names: str) -> Any:
    command = unpack(body)
    if command.DESCRIPTOR.name not in names:
        raise InvalidArgument(f"the action takes a {' or a '.join(names)}, not a {command.DESCRIPTOR.name}")
    return command


def _flight_info(schema: pa.Schema, descriptor: Any, ticket: bytes) -> Any:
    """Return the place of some rows: one endpoint, at this server."""
    return flight.FlightInfo(schema, descriptor, [flight.FlightEndpoint(ticket, [])], -1, -1)


def _refuse_transaction(command: Any) -> None:
    if command.HasField("transaction_id"):
        raise Unimplemented(_TRANSACTIONS)


def _subject(statement: Statement) -> str:
    return f"{statement.kind}:{statement.digest}"


def _serialized(schema: pa.Schema) -> bytes:
    """Return a schema as an IPC message; nothing for one without fields."""
    return schema.serialize().to_pybytes() if len(schema) else b""


def _refuse_if_gone(context: Any) -> None:
    """Refuse a stream of records that has ended because its client went away, which is known a moment later.

    Raises:
        Cancelled: it has.
    """
    for _ in range(5):
        if context.is_cancelled():
            raise Cancelled("the client went away")
        time.sleep(0.01)


def _records(reader: Any, statement: Statement, most_bytes: int) -> pa.RecordBatch | None:
    """Return the records of parameters that a client sends; None for a statement without parameters.

    Raises:
        InvalidArgument: there are none, more or fewer columns than parameters, or more bytes.
    """
    wanted = len(statement.parameters)
    found: list[pa.RecordBatch] = []
    for chunk in reader:
        if chunk.data is not None and chunk.data.num_rows:
            found.append(chunk.data)
        if sum(batch.nbytes for batch in found) > most_bytes:
            raise InvalidArgument(f"the values of the parameters have more than {most_bytes:,} bytes")
    if not found:
        if wanted:
            raise InvalidArgument(f"the statement has {wanted} parameters, and no record of values came")
        return None
    if found[0].num_columns != wanted:
        raise InvalidArgument(
            f"the statement has {wanted} parameters, and the record has {found[0].num_columns} columns"
        )
    [batch] = pa.Table.from_batches(found).combine_chunks().to_batches() if len(found) > 1 else found
    return batch


def _answer(writer: Any, name: str, **fields: Any) -> None:
    writer.write(pa.py_buffer(make(name, **fields).SerializeToString()))
