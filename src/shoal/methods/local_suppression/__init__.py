"""Local suppression: star single cells, and generalize nothing."""
