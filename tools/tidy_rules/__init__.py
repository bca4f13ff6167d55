"""The rules, in the order in which they are reported on one line."""

from . import calls, dead, includes, registration, shape, texts, windows
from .tree import Finding, Tree

RULES = [
    *includes.RULES,
    *calls.RULES,
    *texts.RULES,
    *registration.RULES,
    *dead.RULES,
    *shape.RULES,
    *windows.RULES,
]


def findings(tree: Tree) -> list[Finding]:
    return sorted({found for rule in RULES for found in rule(tree)})


__all__ = ["RULES", "Finding", "Tree", "findings"]
