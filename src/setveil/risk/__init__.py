"""The attacker's view: what a few known items of a person reveal."""

from setveil.risk.assess import BUDGET, RiskRow, RiskTable, risk

__all__ = ["BUDGET", "RiskRow", "RiskTable", "risk"]
