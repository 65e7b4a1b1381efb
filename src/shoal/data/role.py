"""The roles of columns and items."""

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import Field

from shoal.errors import UnknownName
from shoal.parameters import Parameters


class Role(StrEnum):
    """What a column means to an adversary. Every column has exactly one role."""

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

    ITEMS = "items"
    """Holds a set of items in each row, such as products or diagnoses: an adversary may know some of them."""


OTHERS = ("drop", "insensitive")
"""What can be done with columns that have no role."""

SINGLE = ("entity", "others", "items", "items_from", "item_separator", "link")
"""Fields that take a single text, not a list of names."""


class Roles(Parameters):
    """The roles of the columns of a table, or of the items of baskets."""

    quasi: tuple[str, ...] = Field(default=(), description="columns that an adversary may know")
    sensitive: tuple[str, ...] = Field(default=(), description="columns or items that must not be learned")
    identifying: tuple[str, ...] = Field(default=(), description="columns that name a person: dropped")
    insensitive: tuple[str, ...] = Field(
        default=(), description="columns or items that are neither known nor secret"
    )
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")
    others: Literal["drop", "insensitive"] | None = Field(
        default=None, description="what to do with columns that have no role"
    )
    insist: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that are taken although they look like identifiers"
    )
    items: str | None = Field(
        default=None, description="column that holds a set of items a row, such as products or diagnoses"
    )
    items_from: str | None = Field(
        default=None,
        description="another table with an item a row, FILE:KEY,ITEM: each row of the table gets the items of its KEY",
    )
    item_separator: str | None = Field(
        default=None,
        min_length=1,
        description="what stands between the items of a cell; by default, it is found out",
    )
    link: str | None = Field(
        default=None,
        description="another table with records of the persons, FILE:KEY: both are published, joined by a new KEY; its "
        "columns have roles like those of the table",
    )
    sensitive_items: tuple[str, ...] = Field(
        default=(), description="items of the column of items that must not be learned"
    )
    insensitive_items: tuple[str, ...] = Field(
        default=(), description="items of the column of items that are neither known nor secret"
    )
    public_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="draw so large a share of the items at random (--seed) to be public, the others not",
    )
    private: Literal["none", "top", "bottom", "rest"] = Field(
        default="none",
        description="which items that are not drawn are sensitive: none, the most frequent of some basket, the rarest "
        "of some basket, or all",
    )
    private_below: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="only items that at most such a share of the baskets holds are made sensitive by --private",
    )

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Roles from Python arguments: a text is one name, and wrong arguments are explained in a sentence.

        >>> Roles.of(quasi="age", sensitive=["illness"]).quasi
        ('age',)
        """
        named: dict[str, Any] = {
            role: (names,) if isinstance(names, str) and role not in SINGLE else names
            for role, names in given.items()
        }
        if (others := given.get("others")) not in (None, *OTHERS):
            raise UnknownName("treatment of other columns", str(others), OTHERS)
        return cls(**named)

    def by_column(self) -> dict[Role, tuple[str, ...]]:
        """The columns of each role."""
        return {
            Role.QUASI: self.quasi,
            Role.SENSITIVE: self.sensitive,
            Role.IDENTIFYING: self.identifying,
            Role.INSENSITIVE: self.insensitive,
            Role.ENTITY: () if self.entity is None else (self.entity,),
            Role.ITEMS: () if self.items is None else (self.items,),
        }
