"""What a column may give away."""

from enum import StrEnum


class Role(StrEnum):
    """The part that a column plays for an adversary. Every column has exactly one."""

    IDENTIFYING = "identifying"
    """Names a person. Never published."""

    QUASI = "quasi"
    """May be known to an adversary. Published generalized."""

    SENSITIVE = "sensitive"
    """Must not be learned about a person. Published as it is."""

    INSENSITIVE = "insensitive"
    """Neither known nor secret. Published as it is."""

    ENTITY = "entity"
    """Says which rows belong to one person. Published as a number that is valid only inside its class."""
