"""ICD-9-CM: 17 chapters with their sections, V codes and E codes.

A line is a range of categories and a short name of ours; what is indented belongs to the line above.
"""

from __future__ import annotations

from setveil.io.hierarchies.systems.base import CodeSystem

TABLE = """
001-139 Infections
  001-009 Bowel infections
  010-018 Tuberculosis
  020-027 Bacteria passed on by animals
  030-041 Further bacterial infections
  042 HIV
  045-049 Polio and further viruses of the nervous system
  050-059 Viruses with rash
  060-066 Viruses passed on by insects
  070-079 Further viruses and chlamydia
  080-088 Rickettsia and further diseases passed on by insects
  090-099 Syphilis and further sexually passed infections
  100-104 Further spirochaetes
  110-118 Fungi
  120-129 Worms
  130-136 Further infections and parasites
  137-139 Late effects of infections
140-239 Tumours
  140-149 Cancer of lip or mouth or throat
  150-159 Cancer of digestive organs
  160-165 Cancer of airways and chest
  170-176 Cancer of bone or soft tissue or skin or breast
  179-189 Cancer of sex organs and urinary tract
  190-199 Cancer of other and unknown places
  200-208 Cancer of blood and lymph
  209 Neuroendocrine tumours
  210-229 Benign tumours
  230-234 In situ tumours
  235-238 Tumours of uncertain behaviour
  239 Tumours without further detail
240-279 Hormones and metabolism and immunity
  240-246 Thyroid
  249-259 Diabetes and further hormone glands
  260-269 Malnutrition and lack of vitamins
  270-279 Metabolism and immunity
280-289 Blood
290-319 Mind and behaviour
  290-294 Dementia and organic psychoses
  295-299 Further psychoses
  300-316 Neuroses and personality and addiction
  317-319 Intellectual disability
320-389 Nervous system and senses
  320-326 Inflammation of brain and spinal cord
  327 Organic sleep disorders
  330-337 Inherited and degenerative disease of the nervous system
  338 Pain
  339 Headache
  340-349 Further brain and spinal cord
  350-359 Nerves and muscles
  360-379 Eye
  380-389 Ear
390-459 Heart and circulation
  390-392 Acute rheumatic fever
  393-398 Rheumatic heart disease
  401-405 High blood pressure
  410-414 Coronary heart disease
  415-417 Lung circulation
  420-429 Further heart disease
  430-438 Stroke and brain vessels
  440-449 Arteries
  451-459 Veins and lymph and further circulation
460-519 Breathing
  460-466 Acute airways
  470-478 Further upper airways
  480-488 Pneumonia and influenza
  490-496 Chronic obstruction and asthma
  500-508 Lung disease by dust or fumes
  510-519 Further breathing
520-579 Digestion
  520-529 Mouth and teeth
  530-539 Oesophagus and stomach
  540-543 Appendix
  550-553 Hernia
  555-558 Bowel inflammation without infection
  560-569 Further bowel and peritoneum
  570-579 Liver and gallbladder and pancreas
580-629 Kidneys and urinary and sex organs
  580-589 Kidney filters and kidney failure
  590-599 Further urinary tract
  600-608 Male organs
  610-612 Breast
  614-616 Inflamed female organs
  617-629 Further female organs
630-679 Pregnancy and birth
  630-639 Pregnancy that ends early
  640-649 Illness of pregnancy
  650-659 Birth and care in pregnancy
  660-669 Difficult birth
  670-677 After birth
  678-679 Care for the unborn child
680-709 Skin
  680-686 Skin infections
  690-698 Further inflamed skin
  700-709 Further skin
710-739 Bones and joints and muscles
  710-719 Joints
  720-724 Back
  725-729 Soft tissue
  730-739 Bone and cartilage and acquired shape
740-759 Malformations
760-779 Newborns
  760-763 Newborn affected by the mother
  764-779 Further newborn
780-799 Symptoms and findings
  780-789 Symptoms
  790-796 Abnormal findings
  797-799 Unknown causes
800-999 Injury and poisoning
  800-804 Broken skull
  805-809 Broken spine or trunk
  810-819 Broken arm
  820-829 Broken leg
  830-839 Dislocation
  840-848 Sprain
  850-854 Injury inside the skull
  860-869 Injury of inner organs
  870-879 Open wound of head or neck or trunk
  880-887 Open wound of the arm
  890-897 Open wound of the leg
  900-904 Injury of blood vessels
  905-909 Late effects of injury
  910-919 Surface injury
  920-924 Bruise
  925-929 Crushing
  930-939 Foreign bodies
  940-949 Burns
  950-957 Injury of nerves
  958-959 Early complications of injury
  960-979 Poisoning by medicines
  980-989 Poisoning by other substances
  990-995 Further external causes
  996-999 Complications of treatment
V01-V91 Contact with health services
  V01-V09 Risk of infection
  V10-V19 History
  V20-V29 Pregnancy care and family planning
  V30-V39 Live births
  V40-V49 Lasting conditions
  V50-V59 Procedures and aftercare
  V60-V69 Social circumstances and further contact
  V70-V82 Examinations
  V83-V84 Genes
  V85 Body mass
  V86 Hormone receptors
  V87 Further exposure and history
  V88 Absence of organs
  V89 Suspected conditions not found
  V90 Retained fragments
  V91 Multiple pregnancy
E000-E999 External causes
  E000 Status of the person
  E001-E030 Activity
  E800-E807 Railway
  E810-E819 Motor vehicle in traffic
  E820-E825 Motor vehicle off the road
  E826-E829 Further road vehicles
  E830-E838 Water transport
  E840-E845 Air transport
  E846-E849 Other vehicles and place
  E850-E858 Accidental poisoning by medicines
  E860-E869 Accidental poisoning by other substances
  E870-E876 Errors in treatment
  E878-E879 Reactions to procedures
  E880-E888 Falls
  E890-E899 Fire
  E900-E909 Nature and animals
  E910-E915 Drowning and choking and foreign bodies
  E916-E928 Further accidents
  E929 Late effects of accidents
  E930-E949 Side effects of medicines
  E950-E959 Self-harm
  E960-E969 Assault
  E970-E979 Police action and terrorism
  E980-E989 Unknown intent
  E990-E999 War
"""

SYSTEM = CodeSystem(
    name="icd9cm",
    title="ICD-9-CM",
    about="diagnoses, ICD-9 and ICD-9-CM, with V codes and E codes",
    table=TABLE,
    category=r"[0-9]{3}|V[0-9]{2}|E[0-9]{3}",
    rest=r"[0-9]{0,2}",
    levels=(4,),
    example="250.01",
    padded=r"[0-9]{3}",
)
