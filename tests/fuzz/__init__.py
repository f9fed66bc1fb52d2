"""Hostile inputs for jaxlint, made from a seed, and the checks that each of them has to pass.

A module that has ``KIND`` makes one kind of input. ``running`` gives the inputs to child processes that have a limit on
CPU time and memory, ``judging`` says what counts as broken, and ``shrinking`` makes a failing program small.
``benchmarks/fuzz.py`` runs the kinds for as long as it is told to; the tests run a few hundred inputs of each.
"""
