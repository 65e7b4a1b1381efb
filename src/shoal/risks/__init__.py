"""What a release may still give away."""
