"""Damaged files, thousands of them: every reader must accept a file or say what is wrong with it.

``python -m tools.fuzz --count 100000 --seed 0`` mutates files of every kind that is read, each in
a process with 2 GB of memory and 10 s of processor time, and counts what came of them: accepted, a
clean error, an unclean one (a traceback), a hang, too much memory. The same seed gives the same
files. With ``--folder`` all but the first two are kept with their tracebacks, and ``--resume`` goes
on where an earlier run was stopped.
"""
