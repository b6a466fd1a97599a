"""What functions of decimals are made of: digits beyond those of Spark, quotients, sums, bits, ways to round."""
