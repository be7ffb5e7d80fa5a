"""An invented code system of diagnoses: 18 groups, 108 categories, some 480 codes, and who tends to have what.

Codes look like ``C02.1``: a letter per group, two digits per category, one digit per variant. It is made up for
testing: no code, name or figure is taken from a real code system or from real patients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

AGE_BANDS = ("0-17", "18-39", "40-59", "60-79", "80+")
SHARE_OF_AGE = (18, 27, 26, 22, 7)  # percent of patients
SEXES = ("women", "men")

VARIANTS = {
    "acute": ("mild", "severe", "recurring", "not specified"),
    "chronic": ("early", "moderate", "advanced", "with complications", "not specified"),
    "injury": ("left", "right", "both sides", "open", "not specified"),
    "course": ("first episode", "repeated", "under treatment", "in remission"),
}
VARIANT_WEIGHTS = (40, 25, 15, 8, 12)  # the first variants are the usual ones

# One line per group: letter, name, then patients per thousand with such a diagnosis, by age band, women | men.
# One line per category below it: weight, kind of variants, name; "!" marks sensitive ones, "(women)" and "(men)" limit.
_TABLE = """
A Infections: 160 90 70 70 90 | 165 80 65 75 95
  30 acute Stomach bug
  25 acute Feverish chill
  12 acute Skin infection
  8 acute Tick-borne fever
  5 chronic! Blood-borne virus
  4 course! Sexually passed infection
B Growths: 4 12 45 90 110 | 4 8 35 105 140
  30 course Harmless growth
  16 course Skin tumour
  14 course Bowel tumour
  14 course Breast tumour (women)
  14 course Prostate tumour (men)
  8 course! Blood cell tumour
C Blood and immunity: 25 50 45 60 90 | 20 15 20 50 90
  40 chronic Iron deficiency
  15 acute Low white cell count
  12 chronic Clotting weakness
  10 chronic Immune deficiency
  9 acute Swollen lymph nodes
  6 chronic! Inherited blood disorder
D Metabolism: 20 50 160 300 290 | 15 45 190 320 280
  40 chronic High blood sugar
  34 chronic High blood fats
  25 chronic Underactive thyroid
  22 chronic Excess weight
  10 chronic Vitamin shortage
  6 chronic Gout of the joints
E Mind and behaviour: 60 140 150 110 120 | 75 110 110 70 90
  30 course Low mood
  26 course Worry and panic
  14 course Sleeplessness
  10 course! Alcohol dependence
  7 course! Drug dependence
  6 course! Psychotic episode
F Nerves: 25 90 90 100 150 | 20 45 60 95 150
  34 acute Migraine
  20 acute Nerve compression
  12 chronic Shaking disease
  10 course Seizures
  9 chronic Memory loss
  6 chronic! Progressive nerve weakness
G Eyes: 60 30 50 130 260 | 60 25 45 115 230
  30 chronic Clouded lens
  24 acute Red eye
  16 chronic High eye pressure
  14 chronic Short sight
  10 chronic Retina damage
  6 injury Eye injury
H Ears and throat: 150 50 45 50 60 | 155 45 45 55 70
  32 acute Middle ear infection
  26 acute Sore throat
  20 chronic Hearing loss
  12 acute Dizziness
  8 chronic Ringing in the ears
  6 acute Nosebleed
I Heart and vessels: 5 20 130 380 520 | 5 20 170 430 520
  50 chronic High blood pressure
  20 chronic Narrowed heart vessels
  16 chronic Irregular heartbeat
  12 chronic Weak heart
  10 course Stroke
  10 chronic Varicose veins
J Lungs and airways: 170 90 80 110 130 | 180 80 75 130 160
  40 acute Cold with cough
  22 chronic Asthma
  18 acute Bronchitis
  12 chronic Smoker's lung
  10 acute Pneumonia
  5 course Lung clot
K Digestion: 60 80 120 170 190 | 55 70 120 170 180
  32 acute Heartburn
  20 acute Gallstones
  18 chronic Irritable bowel
  14 acute Groin hernia
  10 chronic Fatty liver
  8 chronic Inflamed bowel
L Skin: 110 80 70 90 110 | 105 60 65 95 115
  32 chronic Itchy eczema
  22 acute Hives
  18 chronic Scaly patches
  16 course Acne
  10 chronic Slow wound
  6 acute Nail fungus
M Bones and joints: 40 80 210 320 330 | 45 80 200 260 260
  40 acute Lower back pain
  24 chronic Worn knee
  18 acute Stiff shoulder
  14 chronic Brittle bones
  12 chronic Joint inflammation
  8 acute Tennis elbow
N Kidneys and bladder: 25 60 70 110 180 | 15 15 40 120 190
  34 acute Bladder infection
  20 acute Kidney stone
  18 chronic Weak kidneys
  14 chronic Enlarged prostate (men)
  12 chronic Weak bladder
  6 course Blood in the urine
O Reproductive health: 20 130 110 40 20 | 6 12 25 35 15
  28 chronic Painful periods (women)
  22 course Change of life (women)
  16 acute Genital inflammation
  12 course! Unwanted childlessness
  10 chronic Ovarian cyst (women)
  8 course! Erection trouble (men)
P Pregnancy and birth: 2 95 6 0 0 | 0 0 0 0 0
  40 course Normal pregnancy (women)
  18 course Birth (women)
  14 acute Pregnancy sickness (women)
  10 course! Ended pregnancy (women)
  9 acute Early contractions (women)
  6 chronic Pregnancy sugar (women)
Q Injuries: 130 90 75 95 170 | 160 130 90 80 120
  32 injury Bruise or sprain
  22 injury Cut
  18 injury Broken arm
  12 injury Broken leg
  10 injury Burn
  4 course! Injury by another person
R Poisoning and side effects: 14 16 18 30 40 | 15 14 16 28 36
  30 acute Drug side effect
  20 acute Food reaction
  14 acute Wasp or bee sting
  10 acute Household poison
  8 acute Dust allergy attack
  5 course! Overdose
"""

# (group, further group, chance per thousand): who has the first is more likely to have the second, whatever the age.
COMORBIDITY = (
    ("D", "I", 220),
    ("D", "G", 90),
    ("D", "N", 80),
    ("I", "N", 90),
    ("I", "F", 60),
    ("J", "I", 60),
    ("M", "E", 90),
    ("E", "M", 80),
    ("E", "R", 50),
    ("B", "C", 120),
    ("A", "H", 80),
    ("Q", "M", 70),
)


@dataclass(frozen=True)
class Code:
    """One diagnosis: where it stands, how it is called, how often it is meant within its group, and of whom."""

    label: str
    name: str
    category: str
    group: str
    weight: int
    chronic: bool
    sensitive: bool
    sexes: tuple[int, ...]  # positions in SEXES


@dataclass(frozen=True)
class Group:
    """A disease group: its codes, and patients per thousand by sex and age band."""

    letter: str
    name: str
    prevalence: tuple[tuple[int, ...], ...]  # [sex][age band]
    codes: tuple[Code, ...]


@cache
def groups() -> tuple[Group, ...]:
    """The code system, group by group."""
    found: list[Group] = []
    for block in _TABLE.strip().split("\n"):
        if not block.startswith(" "):
            heading, figures = block.split(": ")
            women, men = (tuple(map(int, part.split())) for part in figures.split(" | "))
            found.append(Group(heading[0], heading[2:], (women, men), ()))
            number = 0
        else:
            number += 1
            group = found[-1]
            found[-1] = Group(group.letter, group.name, group.prevalence, group.codes + _codes(group, number, block))
    return tuple(found)


def _codes(group: Group, number: int, line: str) -> tuple[Code, ...]:
    weight, kind, name = line.split(maxsplit=2)
    sexes: tuple[int, ...] = (0, 1)
    for position, sex in enumerate(SEXES):
        if name.endswith(f" ({sex})"):
            name, sexes = name.removesuffix(f" ({sex})"), (position,)
    stem, variants = f"{group.letter}{number:02}", VARIANTS[kind.rstrip("!")]
    return tuple(
        Code(
            label=f"{stem}.{place}",
            name=f"{name}, {variant}",
            category=f"{stem} {name}",
            group=f"{group.letter} {group.name}",
            weight=int(weight) * VARIANT_WEIGHTS[place],
            chronic=kind.startswith("chronic"),
            sensitive=kind.endswith("!"),
            sexes=sexes,
        )
        for place, variant in enumerate(variants)
    )
