"""The attacker's view: what a few known items of a person reveal."""

from setveil.risk.assess import QUICK, RiskRow, RiskTable, risk

__all__ = ["QUICK", "RiskRow", "RiskTable", "risk"]
