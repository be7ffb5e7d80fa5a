"""ICD-10 of the WHO (2019): 22 chapters, their blocks, three-character categories, subcategories.

A line is a range of categories and a short name of ours; what is indented belongs to the line above.
"""

from __future__ import annotations

from setveil.io.hierarchies.systems.base import CodeSystem

TABLE = """
A00-B99 Infections
  A00-A09 Bowel infections
  A15-A19 Tuberculosis
  A20-A28 Bacteria passed on by animals
  A30-A49 Further bacterial infections
  A50-A64 Sexually passed infections
  A65-A69 Spirochaetes
  A70-A74 Chlamydia
  A75-A79 Rickettsia
  A80-A89 Viruses of the nervous system
  A92-A99 Viruses passed on by insects and viral bleeding fevers
  B00-B09 Viruses with rash or blisters
  B15-B19 Hepatitis by viruses
  B20-B24 HIV
  B25-B34 Further viruses
  B35-B49 Fungi
  B50-B64 Protozoa
  B65-B83 Worms
  B85-B89 Lice and mites and other infestations
  B90-B94 Late effects of infections
  B95-B98 Germs as causes
  B99 Infections without further detail
C00-D48 Tumours
  C00-C97 Malignant tumours
    C00-C75 Malignant tumours at a named place
      C00-C14 Cancer of lip or mouth or throat
      C15-C26 Cancer of digestive organs
      C30-C39 Cancer of airways and chest
      C40-C41 Cancer of bone and cartilage
      C43-C44 Cancer of the skin
      C45-C49 Cancer of soft tissue
      C50 Cancer of the breast
      C51-C58 Cancer of female organs
      C60-C63 Cancer of male organs
      C64-C68 Cancer of the urinary tract
      C69-C72 Cancer of eye and brain
      C73-C75 Cancer of hormone glands
    C76-C80 Spread cancer and cancer of unknown origin
    C81-C96 Cancer of blood and lymph
    C97 Several separate cancers
  D00-D09 In situ tumours
  D10-D36 Benign tumours
  D37-D48 Tumours of unknown behaviour
D50-D89 Blood and immune system
  D50-D53 Anaemia by poor nutrition
  D55-D59 Anaemia by loss of red cells
  D60-D64 Bone marrow failure and further anaemia
  D65-D69 Clotting and bleeding
  D70-D77 White cells and spleen
  D80-D89 Immune system
E00-E90 Hormones and metabolism
  E00-E07 Thyroid
  E10-E14 Diabetes
  E15-E16 Further disorders of blood sugar
  E20-E35 Further hormone glands
  E40-E46 Malnutrition
  E50-E64 Lack of vitamins or minerals
  E65-E68 Obesity
  E70-E90 Metabolism
F00-F99 Mind and behaviour
  F00-F09 Dementia and organic mental disorders
  F10-F19 Alcohol and drugs
  F20-F29 Psychoses
  F30-F39 Mood
  F40-F48 Anxiety and stress
  F50-F59 Eating and sleep and sexual function
  F60-F69 Personality
  F70-F79 Intellectual disability
  F80-F89 Development
  F90-F98 Behaviour with onset in childhood
  F99 Mental disorder without further detail
G00-G99 Nervous system
  G00-G09 Inflammation of brain and spinal cord
  G10-G14 Inherited ataxia and motor neurons
  G20-G26 Movement
  G30-G32 Alzheimer and further degeneration
  G35-G37 Multiple sclerosis and its kind
  G40-G47 Epilepsy and migraine and sleep
  G50-G59 Single nerves
  G60-G64 Many nerves
  G70-G73 Muscles and their nerve endings
  G80-G83 Paralysis
  G90-G99 Further nervous system
H00-H59 Eye
  H00-H06 Eyelid and tear gland and orbit
  H10-H13 Conjunctiva
  H15-H22 Cornea and iris
  H25-H28 Lens
  H30-H36 Retina and choroid
  H40-H42 Glaucoma
  H43-H45 Vitreous and eyeball
  H46-H48 Optic nerve
  H49-H52 Eye muscles and refraction
  H53-H54 Sight
  H55-H59 Further eye
H60-H95 Ear
  H60-H62 Outer ear
  H65-H75 Middle ear
  H80-H83 Inner ear
  H90-H95 Hearing and further ear
I00-I99 Heart and circulation
  I00-I02 Acute rheumatic fever
  I05-I09 Rheumatic heart disease
  I10-I15 High blood pressure
  I20-I25 Coronary heart disease
  I26-I28 Lung circulation
  I30-I52 Further heart disease
  I60-I69 Stroke and brain vessels
  I70-I79 Arteries
  I80-I89 Veins and lymph
  I95-I99 Further circulation
J00-J99 Breathing
  J00-J06 Acute upper airways
  J09-J18 Influenza and pneumonia
  J20-J22 Acute lower airways
  J30-J39 Further upper airways
  J40-J47 Chronic lower airways
  J60-J70 Lung disease by dust or fumes
  J80-J84 Lung tissue
  J85-J86 Pus in the lung or chest
  J90-J94 Pleura
  J95-J99 Further breathing
K00-K93 Digestion
  K00-K14 Mouth and teeth
  K20-K31 Oesophagus and stomach
  K35-K38 Appendix
  K40-K46 Hernia
  K50-K52 Bowel inflammation without infection
  K55-K64 Further bowel
  K65-K67 Peritoneum
  K70-K77 Liver
  K80-K87 Gallbladder and pancreas
  K90-K93 Further digestion
L00-L99 Skin
  L00-L08 Skin infections
  L10-L14 Blisters
  L20-L30 Eczema
  L40-L45 Psoriasis and scaling
  L50-L54 Hives and redness
  L55-L59 Skin and radiation
  L60-L75 Hair and nails and sweat
  L80-L99 Further skin
M00-M99 Bones and joints and muscles
  M00-M25 Joints
    M00-M03 Infected joints
    M05-M14 Inflamed joints
    M15-M19 Worn joints
    M20-M25 Further joints
  M30-M36 Connective tissue of the whole body
  M40-M54 Back
    M40-M43 Shape of the spine
    M45-M49 Vertebrae
    M50-M54 Discs and back pain
  M60-M79 Soft tissue
    M60-M63 Muscles
    M65-M68 Tendons
    M70-M79 Further soft tissue
  M80-M94 Bone and cartilage
    M80-M85 Bone density
    M86-M90 Further bone
    M91-M94 Cartilage
  M95-M99 Further bones and joints
N00-N99 Kidneys and urinary and sex organs
  N00-N08 Kidney filters
  N10-N16 Kidney tissue
  N17-N19 Kidney failure
  N20-N23 Urinary stones
  N25-N29 Further kidney
  N30-N39 Bladder and further urinary tract
  N40-N51 Male organs
  N60-N64 Breast
  N70-N77 Inflamed female organs
  N80-N98 Further female organs
  N99 Urinary and sex organs after treatment
O00-O99 Pregnancy and birth
  O00-O08 Pregnancy that ends early
  O10-O16 High blood pressure in pregnancy
  O20-O29 Further illness of pregnancy
  O30-O48 Care for the unborn child
  O60-O75 Difficult birth
  O80-O84 Birth
  O85-O92 After birth
  O94-O99 Further pregnancy
P00-P96 Newborns
  P00-P04 Newborn affected by the mother
  P05-P08 Weight and length of pregnancy
  P10-P15 Birth injury
  P20-P29 Breathing and heart of the newborn
  P35-P39 Infections of the newborn
  P50-P61 Blood of the newborn
  P70-P74 Metabolism of the newborn
  P75-P78 Digestion of the newborn
  P80-P83 Skin and temperature of the newborn
  P90-P96 Further newborn
Q00-Q99 Malformations
  Q00-Q07 Malformed nervous system
  Q10-Q18 Malformed eye or ear or face or neck
  Q20-Q28 Malformed heart and vessels
  Q30-Q34 Malformed airways
  Q35-Q37 Cleft lip and palate
  Q38-Q45 Malformed digestive organs
  Q50-Q56 Malformed sex organs
  Q60-Q64 Malformed urinary tract
  Q65-Q79 Malformed bones and muscles
  Q80-Q89 Further malformations
  Q90-Q99 Chromosomes
R00-R99 Symptoms and findings
  R00-R09 Symptoms of heart and breathing
  R10-R19 Symptoms of the belly
  R20-R23 Symptoms of the skin
  R25-R29 Symptoms of movement
  R30-R39 Symptoms of the urinary tract
  R40-R46 Symptoms of thinking and mood
  R47-R49 Symptoms of speech
  R50-R69 General symptoms
  R70-R79 Blood findings
  R80-R82 Urine findings
  R83-R89 Findings in other fluids and tissues
  R90-R94 Imaging and function tests
  R95-R99 Unknown cause of death
S00-T98 Injury and poisoning
  S00-S09 Head injury
  S10-S19 Neck injury
  S20-S29 Chest injury
  S30-S39 Belly and lower back injury
  S40-S49 Shoulder and upper arm injury
  S50-S59 Forearm injury
  S60-S69 Wrist and hand injury
  S70-S79 Hip and thigh injury
  S80-S89 Knee and lower leg injury
  S90-S99 Ankle and foot injury
  T00-T07 Injury of several regions
  T08-T14 Injury of an unnamed region
  T15-T19 Foreign bodies
  T20-T32 Burns
    T20-T25 Burns of the body surface
    T26-T28 Burns of eye and inner organs
    T29-T32 Burns of several or unnamed regions
  T33-T35 Frostbite
  T36-T50 Poisoning by medicines
  T51-T65 Poisoning by other substances
  T66-T78 Heat and pressure and neglect and other causes
  T79 Early complications of injury
  T80-T88 Complications of treatment
  T90-T98 Late effects of injury
U00-U99 Special purposes
  U00-U49 New diseases
  U82-U85 Resistant germs
V01-Y98 External causes
  V01-X59 Accidents
    V01-V99 Transport accidents
      V01-V09 Pedestrian
      V10-V19 Cyclist
      V20-V29 Motorcyclist
      V30-V39 Three-wheeled vehicle
      V40-V49 Car
      V50-V59 Van or pick-up
      V60-V69 Lorry
      V70-V79 Bus
      V80-V89 Further land transport
      V90-V94 Water transport
      V95-V97 Air transport
      V98-V99 Further transport
    W00-X59 Other accidents
      W00-W19 Falls
      W20-W49 Hit by things
      W50-W64 Hurt by people or animals
      W65-W74 Drowning
      W75-W84 Choking
      W85-W99 Electricity and radiation
      X00-X09 Fire and smoke
      X10-X19 Hot things
      X20-X29 Venomous animals and plants
      X30-X39 Forces of nature
      X40-X49 Accidental poisoning
      X50-X57 Strain and travel and want
      X58-X59 Further accidents
  X60-X84 Self-harm
  X85-Y09 Assault
  Y10-Y34 Unknown intent
  Y35-Y36 Police action and war
  Y40-Y84 Medical care as a cause
    Y40-Y59 Side effects of medicines
    Y60-Y69 Errors in treatment
    Y70-Y82 Medical devices
    Y83-Y84 Reactions to procedures
  Y85-Y89 Late effects of external causes
  Y90-Y98 Additional facts
Z00-Z99 Contact with health services
  Z00-Z13 Examinations
  Z20-Z29 Risk of infection
  Z30-Z39 Family planning and pregnancy care
  Z40-Z54 Care and aftercare
  Z55-Z65 Social circumstances
  Z70-Z76 Counselling and further contact
  Z80-Z99 History and lasting conditions
"""

SYSTEM = CodeSystem(
    name="icd10",
    title="ICD-10",
    about="diagnoses, ICD-10 of the WHO and its national versions with up to five characters",
    table=TABLE,
    category=r"[A-Z][0-9]{2}",
    rest=r"[0-9]{0,2}",
    levels=(4,),
    example="E11.9",
)
