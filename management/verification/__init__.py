"""Check the consistency of the stored data in two passes.

The census streams all containers and collects suspects. The examination reads each suspect again, so changes made
during the census are not reported.
"""
