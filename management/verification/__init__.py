"""Consistency checks of the stored data, in two passes.

The census streams all containers and collects suspects. The examination reads each suspect again and reports what is
really wrong, so changes made during the census are not reported.
"""
