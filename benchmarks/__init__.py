"""Speed, measured side by side with a peer in the same run. Never part of the tests."""
