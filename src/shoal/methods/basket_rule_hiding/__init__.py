"""Association rules of baskets made too weak to be found."""
