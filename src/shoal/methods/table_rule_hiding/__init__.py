"""Association-rule hiding on tables: anonymize, find the rules that reveal a sensitive value, hide them."""
