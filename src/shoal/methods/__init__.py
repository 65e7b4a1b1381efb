"""Methods: algorithms that turn data into a release that keeps its promises.

Each class is available here by its name, as in ``shoal.methods.Mondrian``, and is loaded on first use. So are methods
that other packages register.
"""

from typing import TYPE_CHECKING, Any

from shoal import registry

if TYPE_CHECKING:
    from shoal.methods.anatomy import Anatomy as Anatomy
    from shoal.methods.basket_rule_hiding.method import BasketRuleHiding as BasketRuleHiding
    from shoal.methods.cahd.method import Cahd as Cahd
    from shoal.methods.coherence.method import Coherence as Coherence
    from shoal.methods.disassociation.method import Disassociation as Disassociation
    from shoal.methods.km_generalization.method import KmGeneralization as KmGeneralization
    from shoal.methods.lattice import Lattice as Lattice
    from shoal.methods.local_suppression.method import LocalSuppression as LocalSuppression
    from shoal.methods.mondrian.method import Mondrian as Mondrian
    from shoal.methods.multirelational.method import Multirelational as Multirelational
    from shoal.methods.permutation_mondrian import PermutationMondrian as PermutationMondrian
    from shoal.methods.pram import Pram as Pram
    from shoal.methods.relational_transaction.method import RelationalTransaction as RelationalTransaction
    from shoal.methods.samarati import Samarati as Samarati
    from shoal.methods.table_rule_hiding.method import TableRuleHiding as TableRuleHiding


def __getattr__(name: str) -> Any:
    return registry.class_called("method", name)


def __dir__() -> list[str]:
    return sorted(registry.class_names("method"))
