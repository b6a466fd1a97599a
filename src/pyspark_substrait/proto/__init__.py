"""Protobuf on one side, the model on the other: the only importer of generated messages."""
