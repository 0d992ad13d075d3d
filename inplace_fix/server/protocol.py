"""JSON-RPC that answers what is malformed with an error, and never falls over it."""

from __future__ import annotations

import json
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import JsonRPCNotification

MALFORMED = "$/malformed"  # nobody handles it, so that a malformed message ends there


class Protocol(LanguageServerProtocol):
    """The protocol of pygls, with an answer to every request, also to one whose parameters cannot be read."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message from its JSON object; a malformed request is answered here, a malformed notification told."""
        try:
            message = super().structure_message(data)
        except JsonRpcException as error:
            method = data.get("method")
            known = isinstance(method, str) and self.get_message_type(method) is not None
            words = f"the message {method!r} has parameters that cannot be read" if known else f"no message {method!r}"
            if "id" in data and method:
                code = types.ErrorCodes.InvalidParams if known else types.ErrorCodes.MethodNotFound
                self.refuse(data["id"], code, words)
            else:
                self.note(f"{words}: {error}")
            return JsonRPCNotification(MALFORMED, self.VERSION, None)
        return message

    def handle_message(self, message: Any) -> None:
        """Pass a message on; what is no message, and a request before ``initialize``, is refused."""
        version = getattr(message, "jsonrpc", None)
        if version != self.VERSION:
            self.refuse(None, types.ErrorCodes.InvalidRequest, "this is no JSON-RPC 2.0 message")
        elif (
            self._workspace is None
            and hasattr(message, "id")
            and getattr(message, "method", "initialize") != "initialize"
        ):
            self.refuse(message.id, types.ErrorCodes.ServerNotInitialized, "send `initialize` first")
        elif self._workspace is None and getattr(message, "method", "initialize") not in (
            "initialize",
            "exit",
            MALFORMED,
        ):
            pass  # the protocol wants notifications before ``initialize`` dropped
        else:
            super().handle_message(message)

    def refuse(self, request: Any, code: types.ErrorCodes, words: str) -> None:
        """Answer a request, None where its number is not known, with an error."""
        error = {"code": int(code.value), "message": words}
        self._send_data({"jsonrpc": self.VERSION, "id": request, "error": error})

    def note(self, words: str) -> None:
        """Write a line into the editor's log of this server."""
        if self._workspace is not None:
            self.notify(types.WINDOW_LOG_MESSAGE, types.LogMessageParams(types.MessageType.Warning, words))


def is_parse_error(error: Exception) -> bool:
    """Whether a message was no JSON at all."""
    return isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError)
