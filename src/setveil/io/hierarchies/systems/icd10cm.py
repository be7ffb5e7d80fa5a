"""ICD-10-CM of the United States: 22 chapters, their blocks, categories with letters (``M1A``), up to seven characters.

A line is a range of categories and a short name of ours; what is indented belongs to the line above, and categories
that a range does not reach in the order of the alphabet are added with a plus sign.
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
  A90-A99 Viruses passed on by insects and viral bleeding fevers
  B00-B09 Viruses with rash or blisters
  B10 Further herpes viruses
  B15-B19 Hepatitis by viruses
  B20 HIV
  B25-B34 Further viruses
  B35-B49 Fungi
  B50-B64 Protozoa
  B65-B83 Worms
  B85-B89 Lice and mites and other infestations
  B90-B94 Late effects of infections
  B95-B97 Germs as causes
  B99 Infections without further detail
C00-D49 Tumours
  C00-C14 Cancer of lip or mouth or throat
  C15-C26 Cancer of digestive organs
  C30-C39 Cancer of airways and chest
  C40-C41 Cancer of bone and cartilage
  C43-C44+C4A Cancer of the skin
  C45-C49 Cancer of soft tissue
  C50 Cancer of the breast
  C51-C58 Cancer of female organs
  C60-C63 Cancer of male organs
  C64-C68 Cancer of the urinary tract
  C69-C72 Cancer of eye and brain
  C73-C75 Cancer of hormone glands
  C76-C80 Spread cancer and cancer of unknown origin
  C7A Neuroendocrine cancer
  C7B Spread neuroendocrine cancer
  C81-C96 Cancer of blood and lymph
  D00-D09 In situ tumours
  D10-D36 Benign tumours
  D3A Benign neuroendocrine tumours
  D37-D48 Tumours of unknown behaviour
  D49 Tumours without further detail
D50-D89 Blood and immune system
  D50-D53 Anaemia by poor nutrition
  D55-D59 Anaemia by loss of red cells
  D60-D64 Bone marrow failure and further anaemia
  D65-D69 Clotting and bleeding
  D70-D77 White cells and spleen
  D78 Spleen after procedures
  D80-D89 Immune system
E00-E89 Hormones and metabolism
  E00-E07 Thyroid
  E08-E13 Diabetes
  E15-E16 Further disorders of blood sugar
  E20-E35 Further hormone glands
  E36 Hormone glands after procedures
  E40-E46 Malnutrition
  E50-E64 Lack of vitamins or minerals
  E65-E68 Obesity
  E70-E88 Metabolism
  E89 Hormone glands after treatment
F01-F99 Mind and behaviour
  F01-F09 Dementia and organic mental disorders
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
  G60-G65 Many nerves
  G70-G73 Muscles and their nerve endings
  G80-G83 Paralysis
  G89-G99 Pain and further nervous system
H00-H59 Eye
  H00-H05 Eyelid and tear gland and orbit
  H10-H11 Conjunctiva
  H15-H22 Cornea and iris
  H25-H28 Lens
  H30-H36 Retina and choroid
  H40-H42 Glaucoma
  H43-H44 Vitreous and eyeball
  H46-H47 Optic nerve
  H49-H52 Eye muscles and refraction
  H53-H54 Sight
  H55-H57 Further eye
  H59 Eye after procedures
H60-H95 Ear
  H60-H62 Outer ear
  H65-H75 Middle ear
  H80-H83 Inner ear
  H90-H94 Hearing and further ear
  H95 Ear after procedures
I00-I99 Heart and circulation
  I00-I02 Acute rheumatic fever
  I05-I09 Rheumatic heart disease
  I10-I16+I1A High blood pressure
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
  J40-J47+J4A Chronic lower airways
  J60-J70 Lung disease by dust or fumes
  J80-J84 Lung tissue
  J85-J86 Pus in the lung or chest
  J90-J94 Pleura
  J95 Airways after procedures
  J96-J99 Further breathing
K00-K95 Digestion
  K00-K14 Mouth and teeth
  K20-K31 Oesophagus and stomach
  K35-K38 Appendix
  K40-K46 Hernia
  K50-K52 Bowel inflammation without infection
  K55-K64 Further bowel
  K65-K68 Peritoneum
  K70-K77 Liver
  K80-K87 Gallbladder and pancreas
  K90-K95 Further digestion
L00-L99 Skin
  L00-L08 Skin infections
  L10-L14 Blisters
  L20-L30 Eczema
  L40-L45 Psoriasis and scaling
  L49-L54 Hives and redness
  L55-L59 Skin and radiation
  L60-L75 Hair and nails and sweat
  L76 Skin after procedures
  L80-L99 Further skin
M00-M99 Bones and joints and muscles
  M00-M02 Infected joints
  M04 Inherited fever syndromes
  M05-M14+M1A Inflamed joints
  M15-M19 Worn joints
  M20-M25 Further joints
  M26-M27 Jaw and face
  M30-M36 Connective tissue of the whole body
  M40-M43 Shape of the spine
  M45-M49 Vertebrae
  M50-M54 Discs and back pain
  M60-M63 Muscles
  M65-M67 Tendons
  M70-M79 Further soft tissue
  M80-M85 Bone density
  M86-M90 Further bone
  M91-M94 Cartilage
  M95 Acquired shape
  M96 Bones and joints after procedures
  M97 Fracture around a joint implant
  M99 Function of joints and spine
N00-N99 Kidneys and urinary and sex organs
  N00-N08 Kidney filters
  N10-N16 Kidney tissue
  N17-N19 Kidney failure
  N20-N23 Urinary stones
  N25-N29 Further kidney
  N30-N39 Bladder and further urinary tract
  N40-N53 Male organs
  N60-N65 Breast
  N70-N77 Inflamed female organs
  N80-N98 Further female organs
  N99 Urinary and sex organs after treatment
O00-O9A Pregnancy and birth
  O00-O08 Pregnancy that ends early
  O09 Care of high-risk pregnancy
  O10-O16 High blood pressure in pregnancy
  O20-O29 Further illness of pregnancy
  O30-O48 Care for the unborn child
  O60-O77 Difficult birth
  O80-O82 Birth
  O85-O92 After birth
  O94-O9A Further pregnancy
P00-P96 Newborns
  P00-P04 Newborn affected by the mother
  P05-P08 Weight and length of pregnancy
  P09 Screening of newborns
  P10-P15 Birth injury
  P19-P29 Breathing and heart of the newborn
  P35-P39 Infections of the newborn
  P50-P61 Blood of the newborn
  P70-P74 Metabolism of the newborn
  P76-P78 Digestion of the newborn
  P80-P83 Skin and temperature of the newborn
  P84 Further trouble of the newborn
  P90-P96 Further newborn
Q00-QA0 Malformations and genes
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
  QA0 Genetic disorders of development
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
  R97 Tumour markers
  R99 Unknown cause of death
S00-T88 Injury and poisoning
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
  T07 Injury of several regions
  T14 Injury of an unnamed region
  T15-T19 Foreign bodies
  T20-T25 Burns of the body surface
  T26-T28 Burns of eye and inner organs
  T30-T32 Burns of several or unnamed regions
  T33-T34 Frostbite
  T36-T50 Poisoning by medicines
  T51-T65 Poisoning by other substances
  T66-T78 Heat and pressure and neglect and other causes
  T79 Early complications of injury
  T80-T88 Complications of treatment
U00-U85 Special purposes
  U00-U49 New diseases
V00-Y99 External causes
  V00-V09 Pedestrian
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
  W00-W19 Falls
  W20-W49 Hit by things
  W50-W64 Hurt by people or animals
  W65-W74 Drowning
  W85-W99 Electricity and radiation
  X00-X08 Fire and smoke
  X10-X19 Hot things
  X30-X39 Forces of nature
  X50 Strain
  X52-X58 Further accidents
  X71-X83 Self-harm
  X92-Y09 Assault
  Y21-Y33 Unknown intent
  Y35-Y38 Police action and war and terrorism
  Y62-Y69 Errors in treatment
  Y70-Y82 Medical devices
  Y83-Y84 Reactions to procedures
  Y90-Y99 Additional facts
Z00-Z99 Contact with health services
  Z00-Z13 Examinations
  Z14-Z15 Genetic risk
  Z16 Resistant germs
  Z17 Hormone receptors
  Z18 Retained fragments
  Z19 Hormone sensitivity
  Z20-Z29 Risk of infection
  Z30-Z39+Z3A Family planning and pregnancy care
  Z40-Z53 Care and aftercare
  Z55-Z65 Social circumstances
  Z66 No resuscitation
  Z67 Blood type
  Z68 Body mass
  Z69-Z76 Counselling and further contact
  Z77-Z99 History and lasting conditions
"""

SYSTEM = CodeSystem(
    name="icd10cm",
    title="ICD-10-CM",
    about="diagnoses, ICD-10-CM with up to seven characters",
    table=TABLE,
    category=r"[A-Z][0-9A][0-9AB]",
    rest=r"(?:[0-9A-Z]{0,4})",
    levels=(4, 5, 6),
    example="E11.3211",
)
