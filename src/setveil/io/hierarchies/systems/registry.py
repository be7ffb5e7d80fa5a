"""The code systems by their names in ``--hierarchy``; their chapters and blocks are in ``tables/NAME.txt``."""

from __future__ import annotations

from setveil.io.hierarchies.systems.base import CodeSystem

_DECLARED = (  # the strictest pattern first
    CodeSystem(
        name="atc",
        title="ATC",
        about="medicines, five levels",
        category=r"[A-Z](?:[0-9]{2})?",
        rest=r"(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?",
        levels=(4, 5),
        example="A10BA02",
        has_dot=False,
    ),
    CodeSystem(
        name="icd9cm",
        title="ICD-9-CM",
        about="diagnoses, ICD-9 and ICD-9-CM, with V codes and E codes",
        category=r"[0-9]{3}|V[0-9]{2}|E[0-9]{3}",
        rest=r"[0-9]{0,2}",
        levels=(4,),
        example="250.01",
        padded=r"[0-9]{3}",
    ),
    CodeSystem(
        name="icd10",
        title="ICD-10",
        about="diagnoses, ICD-10 of the WHO and its national versions with up to five characters",
        category=r"[A-Z][0-9]{2}",
        rest=r"[0-9]{0,2}",
        levels=(4,),
        example="E11.9",
    ),
    CodeSystem(
        name="icd10cm",
        title="ICD-10-CM",
        about="diagnoses, ICD-10-CM with up to seven characters",
        category=r"[A-Z][0-9A][0-9AB]",
        rest=r"(?:[0-9A-Z]{0,4})",
        levels=(4, 5, 6),
        example="E11.3211",
    ),
)
SYSTEMS = {system.name: system for system in _DECLARED}
