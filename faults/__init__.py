"""Faults: processes are killed, disks get full, files vanish, two write at once; what is left of tables is counted.

``make faults MINUTES=30`` tries every kind of fault, ``make faults KINDS=killed,disk MINUTES=5`` some of them. Moments
and writes are random; the seed is printed. A try has one of few outcomes, and some of them are faults of the package.

* ``states``: what a table holds
* ``subjects``: the tables and folders that are written, and the writes
* ``writer``, ``killed``: a process that writes for ever, and what kills it
* ``conditions``, ``disk``: a full disk, a read-only folder, files that vanish, two writers, clocks that jump
* ``executors``: executors that are killed in mid-query
* ``run``: the command
"""
