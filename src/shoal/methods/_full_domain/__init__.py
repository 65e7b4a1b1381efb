"""Full-domain generalization: one level of its hierarchy for each column, and rows left out where that does not do."""
