"""What can go wrong, named once, with the HTTP status that each kind gets."""

STATUS = {
    "Unauthorized": 401,
    "NotFound": 404,
    "StaleVersion": 409,
    "Conflict": 409,
    "NoSession": 409,
    "InvalidRequest": 422,
    "NonFiniteUpdate": 422,
    "Internal": 500,
    "RankLost": 500,
    "OutOfMemory": 507,
    "StorageFailed": 507,
}


class WorkerError(Exception):
    """An error that the client may see. `kind` is one of STATUS; the message says what to do about it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        if kind not in STATUS:
            raise ValueError(f"unknown error kind {kind}")
        self.kind = kind

    @property
    def status(self) -> int:
        """HTTP status of the answer."""
        return STATUS[self.kind]

    def body(self) -> dict:
        """The JSON body of the answer."""
        return {"error": {"message": str(self), "type": self.kind, "code": self.status}}
