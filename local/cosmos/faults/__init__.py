"""Faults on demand: rules that make requests fail, hang or lose their connection, for tests of any app."""

from local.cosmos.faults.faults import Fault, Faults
from local.cosmos.faults.rule import FaultRule, parse_rule

__all__ = ["Fault", "FaultRule", "Faults", "parse_rule"]
