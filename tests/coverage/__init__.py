"""Which kind of expression may stand where: kinds and places, to be crossed."""
