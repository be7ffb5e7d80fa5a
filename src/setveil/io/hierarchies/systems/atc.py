"""ATC, the WHO's classification of medicines: five levels, 14 main groups, therapeutic groups.

A line is a code and a short name of ours; what is indented belongs to the line above. The third and fourth level
follow from the characters of a code.
"""

from __future__ import annotations

from setveil.io.hierarchies.systems.base import CodeSystem

TABLE = """
A Digestion and metabolism
  A01 Mouth and teeth
  A02 Stomach acid
  A03 Cramps of the bowel
  A04 Nausea
  A05 Bile and liver
  A06 Constipation
  A07 Diarrhoea and bowel inflammation
  A08 Obesity
  A09 Digestive enzymes
  A10 Diabetes
  A11 Vitamins
  A12 Minerals
  A13 Tonics
  A14 Anabolics
  A15 Appetite
  A16 Further digestion and metabolism
B Blood
  B01 Blood clots
  B02 Bleeding
  B03 Anaemia
  B05 Blood substitutes and infusions
  B06 Further blood
C Heart and circulation
  C01 Heart
  C02 Blood pressure
  C03 Water tablets
  C04 Vessel dilators
  C05 Vessel protection
  C07 Beta blockers
  C08 Calcium channel blockers
  C09 ACE inhibitors and sartans
  C10 Blood fats
D Skin
  D01 Fungi of the skin
  D02 Skin care
  D03 Wounds
  D04 Itching
  D05 Psoriasis
  D06 Skin infections
  D07 Cortisone for the skin
  D08 Antiseptics
  D09 Medicated dressings
  D10 Acne
  D11 Further skin
G Urinary and sex organs and sex hormones
  G01 Infections of female organs
  G02 Further female organs
  G03 Sex hormones
  G04 Urinary tract
H Hormones without sex hormones and insulin
  H01 Pituitary
  H02 Cortisone
  H03 Thyroid
  H04 Pancreas
  H05 Calcium
J Infections
  J01 Bacteria
  J02 Fungi
  J04 Tuberculosis and leprosy
  J05 Viruses
  J06 Sera and immunoglobulins
  J07 Vaccines
L Cancer and immune system
  L01 Cancer
  L02 Hormone therapy of cancer
  L03 Immune stimulants
  L04 Immune suppressants
M Muscles and joints and bones
  M01 Inflammation and rheumatism
  M02 Creams for joints and muscles
  M03 Muscle relaxants
  M04 Gout
  M05 Bones
  M09 Further muscles and joints
N Nervous system
  N01 Anaesthetics
  N02 Pain
  N03 Epilepsy
  N04 Parkinson
  N05 Psychosis and anxiety and sleep
  N06 Depression and attention and dementia
  N07 Further nervous system
P Parasites
  P01 Protozoa
  P02 Worms
  P03 Lice and mites
R Breathing
  R01 Nose
  R02 Throat
  R03 Asthma and chronic obstruction
  R05 Cough and cold
  R06 Allergy
  R07 Further breathing
S Eye and ear
  S01 Eye
  S02 Ear
  S03 Eye and ear
V Various
  V01 Allergens
  V03 Further therapy
  V04 Diagnostic agents
  V06 Nutrients
  V07 Products without therapeutic use
  V08 Contrast media
  V09 Radioactive diagnostics
  V10 Radioactive therapy
  V20 Surgical dressings
"""

SYSTEM = CodeSystem(
    name="atc",
    title="ATC",
    about="medicines, five levels",
    table=TABLE,
    category=r"[A-Z](?:[0-9]{2})?",
    rest=r"(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?",
    levels=(4, 5),
    example="A10BA02",
    has_dot=False,
)
