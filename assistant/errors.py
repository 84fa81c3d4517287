"""The assistant's own branches of the error tree that `vectorstore/errors.py` draws.

UserFacingError
├── SettingsError      a setting is unknown or has a value that cannot be
├── QuestionError      a question cannot be read as one
├── QuestionSetError   a question set cannot be read, or does not fit the collection
├── FeedbackError      feedback on answers cannot be read or written
├── AccessError        the file of users cannot be read or written, or a name in it cannot be
├── AccessRefused      somebody has no right to ask
│   └── NotLoggedIn        or has to log in first
├── TooManyQuestions   a visitor, or all together, ask more than is answered
├── ReportError        a report of an evaluation cannot be read or written
└── ModelError         the chat model gave no answer
    ├── ModelRefused       it, or its server, does not accept the key, the name or the request
    ├── ModelUnreachable   its server does not answer, or not in time
    ├── ModelCutOff        its answer broke off
    └── ModelBusy          its server has no room for now, or failed: worth another try
"""

from vectorstore.errors import UserFacingError

__all__ = [
    "AccessError",
    "AccessRefused",
    "FeedbackError",
    "ModelBusy",
    "ModelCutOff",
    "ModelError",
    "ModelRefused",
    "ModelUnreachable",
    "NotLoggedIn",
    "QuestionError",
    "QuestionSetError",
    "ReportError",
    "SettingsError",
    "TooManyQuestions",
    "UserFacingError",
]


class SettingsError(UserFacingError):
    """A setting is unknown or has a value that cannot be."""


class QuestionError(UserFacingError):
    """A question cannot be read as one."""


class QuestionSetError(UserFacingError):
    """A question set cannot be read, or does not fit the collection."""


class FeedbackError(UserFacingError):
    """Feedback on answers cannot be read or written."""


class AccessError(UserFacingError):
    """The file of users cannot be read or written, or a name in it cannot be."""


class AccessRefused(UserFacingError):
    """Somebody has no right to ask."""


class NotLoggedIn(AccessRefused):
    """Somebody has to log in first."""


class TooManyQuestions(UserFacingError):
    """A visitor, or all together, ask more than is answered."""

    def __init__(self, message: str, hint: str, *, wait_seconds: int) -> None:
        super().__init__(message, hint)
        self.wait_seconds = wait_seconds
        """After which another try may do."""


class ReportError(UserFacingError):
    """A report of an evaluation cannot be read or written."""


class ModelError(UserFacingError):
    """The chat model gave no answer."""


class ModelRefused(ModelError):
    """The model, or its server, does not accept the key, the name or the request."""


class ModelUnreachable(ModelError):
    """The model's server does not answer, or not in time."""


class ModelCutOff(ModelError):
    """The model's answer broke off; what it had written until then has been given."""


class ModelBusy(ModelError):
    """The model's server has no room for now, or failed; another try may do."""

    def __init__(self, message: str, hint: str, *, wait_seconds: float = 0.0) -> None:
        super().__init__(message, hint)
        self.wait_seconds = wait_seconds
        """How long the server asks to be left alone."""
