"""Association-rule hiding on tables: anonymise, find the rules that give a value away, hide them."""
