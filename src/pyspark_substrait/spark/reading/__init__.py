"""Sources that are read through DataFrames: files, Iceberg tables, virtual tables, users' extension tables."""
