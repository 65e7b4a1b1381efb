"""Association-rule hiding on baskets: weaken sensitive rules until they can no longer be found."""
