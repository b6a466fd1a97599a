"""What is read through DataFrames: files, Iceberg tables, virtual tables, tables of kinds that users bring."""
