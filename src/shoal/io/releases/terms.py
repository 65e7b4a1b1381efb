"""What the owner of published data says to those who receive it."""

from pydantic import Field

from shoal.parameters import Parameters


class Terms(Parameters):
    """What the owner of the data says to those who receive it."""

    title: str | None = Field(default=None, description="title of the published data, for its recipients")
    license: str | None = Field(
        default=None,
        description="license of the published data: a name such as CC-BY-4.0, an address or a text",
    )
    data_use: str | None = Field(
        default=None, description="what recipients may do with the data, and what not: a text"
    )
