"""Fault injection: rules that make requests fail, hang or lose their connection."""

from cosmos_emulator.faults.faults import Fault, Faults
from cosmos_emulator.faults.rule import FaultRule, parse_rule

__all__ = ["Fault", "FaultRule", "Faults", "parse_rule"]
