"""What a release costs in utility. The only step that sees the original and the release side by side."""
