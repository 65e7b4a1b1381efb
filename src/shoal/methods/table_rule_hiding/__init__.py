"""Association-rule hiding on tables: anonymize, find the rules that give a value away, hide them."""
