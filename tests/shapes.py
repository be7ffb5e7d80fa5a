"""Tables in the shape of well-known public files, generated: column names, kinds of values and flaws as there."""

from __future__ import annotations

import csv
import io
import random
import uuid
from collections.abc import Callable
from typing import NamedTuple

ICD9 = [
    "250",
    "250.01",
    "250.13",
    "276",
    "276.8",
    "401",
    "410",
    "414",
    "427",
    "428",
    "434",
    "486",
    "491",
    "518",
    "584",
    "599",
    "682",
    "715",
    "780",
    "786",
    "996",
    "V57",
    "V45",
    "E849",
    "E888",
    "8",
    "38",
    "157",
    "162",
    "197",
]
ICD9_WHOLE = [
    "25000",
    "4019",
    "41401",
    "4280",
    "42731",
    "2724",
    "5849",
    "51881",
    "5990",
    "53081",
    "2720",
    "V053",
    "V290",
    "2859",
    "2449",
    "486",
    "2851",
    "2762",
    "496",
    "99592",
    "V5861",
    "311",
    "0389",
    "5070",
    "V1582",
    "E8788",
    "412",
    "40391",
    "E8796",
    "V4581",
]
NAMES = [
    "Viral sinusitis (disorder)",
    "Acute viral pharyngitis",
    "Normal pregnancy",
    "Prediabetes",
    "Anemia (disorder)",
    "Hypertension",
    "Chronic sinusitis",
    "Obesity",
    "Miscarriage in first trimester",
    "Sprain of ankle",
    "Otitis media",
    "Acute bronchitis",
    "Stress (finding)",
    "Streptococcal sore throat",
    "Osteoporosis",
]


class Shape(NamedTuple):
    """A table, and the roles that its owner would choose."""

    names: list[str]
    rows: list[list[str]]
    person: str
    visits: list[str]
    items: list[str]  # any of the first, if which is to be asked
    known: list[str]
    asks_items: bool = False

    def text(self, header: bool = True, bare: bool = False) -> str:
        """As CSV; ``bare`` with meaningless names."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if header:
            writer.writerow(self.bare_names() if bare else self.names)
        writer.writerows(self.rows)
        return out.getvalue()

    def bare_names(self) -> list[str]:
        """c1, c2, …"""
        return [f"c{place + 1}" for place in range(len(self.names))]

    def bare(self, names: list[str]) -> list[str]:
        """The same columns by their meaningless names."""
        return [self.bare_names()[self.names.index(name)] for name in names]


def uci_hospital(rng: random.Random, n: int = 900) -> Shape:
    """Encounters and patients, ``?`` for missing, three columns of ICD-9 codes."""
    names = [
        "encounter_id",
        "patient_nbr",
        "race",
        "gender",
        "age",
        "weight",
        "admission_type_id",
        "time_in_hospital",
        "medical_specialty",
        "num_medications",
        "diag_1",
        "diag_2",
        "diag_3",
        "metformin",
        "readmitted",
    ]
    patients = rng.sample(range(10**5, 10**8), n * 7 // 10)
    facts = {
        patient: (
            rng.choice(["Caucasian", "Caucasian", "AfricanAmerican", "Hispanic", "?"]),
            rng.choice(["Female", "Male"]),
            rng.choice(["[50-60)", "[60-70)", "[70-80)", "[40-50)", "[80-90)"]),
        )
        for patient in patients
    }
    encounters = rng.sample(range(10**6, 10**9), n)
    rows = []
    for encounter in encounters:
        patient = rng.choice(patients)
        race, gender, age = facts[patient]
        rows.append(
            [
                str(encounter),
                str(patient),
                race,
                gender,
                age,
                "?" if rng.random() < 0.95 else "[75-100)",
                str(rng.choice([1, 1, 1, 2, 3, 6])),
                str(rng.randint(1, 14)),
                rng.choice(["?", "?", "InternalMedicine", "Cardiology", "Emergency/Trauma"]),
                str(rng.randint(1, 60)),
                *(rng.choice([*ICD9, "?"] if rng.random() < 0.1 else ICD9) for _ in range(3)),
                rng.choice(["No", "No", "No", "Steady", "Up"]),
                rng.choice(["NO", ">30", "<30"]),
            ]
        )
    return Shape(
        names, rows, "patient_nbr", ["encounter_id"], ["diag_1", "diag_2", "diag_3"], ["race", "gender", "age"]
    )


def mimic_diagnoses(rng: random.Random, n: int = 300) -> Shape:
    """A row per diagnosis of an admission; patients have one to three admissions."""
    rows: list[list[str]] = []
    admissions = iter(rng.sample(range(100_000, 199_999), 3 * n))
    for subject in sorted(rng.sample(range(2, 99_999), n)):
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            admission = next(admissions)
            for number, code in enumerate(rng.sample(ICD9_WHOLE, rng.randint(2, 9)), start=1):
                rows.append([str(len(rows) + 1), str(subject), str(admission), str(number), code])
    names = ["ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE"]
    return Shape(names, rows, "SUBJECT_ID", ["HADM_ID"], ["ICD9_CODE"], [])


def mimic_admissions(rng: random.Random, n: int = 300) -> Shape:
    """A row per admission, one free-text diagnosis each."""
    rows: list[list[str]] = []
    words = [
        "NEWBORN",
        "PNEUMONIA",
        "SEPSIS",
        "CORONARY ARTERY DISEASE",
        "CHEST PAIN",
        "INTRACRANIAL HEMORRHAGE",
        "ALTERED MENTAL STATUS",
        "GASTROINTESTINAL BLEED",
        "CONGESTIVE HEART FAILURE",
        "FEVER",
        "STROKE",
        "ABDOMINAL PAIN",
        "OVERDOSE",
    ]
    admissions = iter(rng.sample(range(100_000, 199_999), 3 * n))
    for subject in rng.sample(range(2, 99_999), n):
        sex, religion = rng.choice(["F", "M"]), rng.choice(["CATHOLIC", "NOT SPECIFIED", "JEWISH", ""])
        for _ in range(rng.choice([1, 1, 2, 3])):
            day = f"21{rng.randint(10, 99)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} 07:15:00"
            rows.append(
                [
                    str(len(rows) + 1),
                    str(subject),
                    str(next(admissions)),
                    day,
                    rng.choice(["EMERGENCY", "NEWBORN", "ELECTIVE"]),
                    sex,
                    religion,
                    rng.choice(words),
                ]
            )
    names = ["ROW_ID", "SUBJECT_ID", "HADM_ID", "ADMITTIME", "ADMISSION_TYPE", "GENDER", "RELIGION", "DIAGNOSIS"]
    return Shape(names, rows, "SUBJECT_ID", ["HADM_ID"], ["DIAGNOSIS"], ["GENDER"])


def synthea_conditions(rng: random.Random, n: int = 200) -> Shape:
    """A row per condition, SNOMED codes with their names."""
    codes = [str(code) for code in rng.sample(range(10**6, 10**9), len(NAMES))]
    rows: list[list[str]] = []
    for _ in range(n):
        patient = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        for _ in range(rng.randint(1, 6)):
            encounter = str(uuid.UUID(int=rng.getrandbits(128), version=4))
            day = f"20{rng.randint(10, 19)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            for place in rng.sample(range(len(NAMES)), rng.choice([1, 1, 2])):
                stop = "" if rng.random() < 0.4 else f"20{rng.randint(20, 23)}-{rng.randint(1, 12):02}-01"
                rows.append([day, stop, patient, encounter, codes[place], NAMES[place]])
    names = ["START", "STOP", "PATIENT", "ENCOUNTER", "CODE", "DESCRIPTION"]
    return Shape(names, rows, "PATIENT", ["ENCOUNTER"], ["CODE"], [])


def online_retail(rng: random.Random, n: int = 250) -> Shape:
    """Lines of invoices: rows without customer, cancelled invoices that begin with C."""
    products = {
        f"{number}{rng.choice(['', '', 'A', 'B'])}": (
            f"{colour} {thing}",
            f"{rng.randint(1, 20)}.{rng.randint(10, 99)}",
        )
        for number, (colour, thing) in zip(
            rng.sample(range(10_000, 99_999), 80),
            [
                (colour, thing)
                for colour in ["WHITE", "RED", "BLUE", "PINK", "GREEN", "IVORY", "BLACK", "LARGE"]
                for thing in [
                    "HANGING HEART",
                    "METAL LANTERN",
                    "TEA MUG",
                    "LUNCH BAG",
                    "CAKE STAND",
                    "CANDLE",
                    "BUNTING",
                    "CLOCK",
                    "PURSE",
                    "JAR",
                ]
            ],
            strict=True,
        )
    }
    customers = rng.sample(range(12_346, 18_287), n // 2)
    country = {customer: rng.choice(["United Kingdom"] * 8 + ["France", "Germany"]) for customer in customers}
    rows = []
    for number in range(536_365, 536_365 + n):
        customer = None if rng.random() < 0.2 else rng.choice(customers)
        cancelled = rng.random() < 0.05
        time = f"12/{rng.randint(1, 28)}/2010 {rng.randint(8, 18)}:{rng.randint(10, 59)}"
        for code in rng.sample(sorted(products), rng.randint(1, 9)):
            name, price = products[code]
            rows.append(
                [
                    f"{'C' if cancelled else ''}{number}",
                    code,
                    name,
                    str(-1 if cancelled else rng.randint(1, 24)),
                    time,
                    price,
                    "" if customer is None else str(customer),
                    "United Kingdom" if customer is None else country[customer],
                ]
            )
    names = ["InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country"]
    return Shape(names, rows, "CustomerID", ["InvoiceNo"], ["StockCode"], ["Country"])


def black_friday(rng: random.Random, n: int = 200) -> Shape:
    """Products with three category columns beside them, of which two may be empty; columns of the buyer."""
    products = {
        f"P{number:08}": [
            str(rng.randint(1, 20)),
            rng.choice(["", "2", "4", "8", "14"]),
            rng.choice(["", "", "5", "16"]),
        ]
        for number in rng.sample(range(10**5, 4 * 10**5), 150)
    }
    rows = []
    for user in range(1_000_001, 1_000_001 + n):
        facts = [
            rng.choice("FM"),
            rng.choice(["0-17", "18-25", "26-35", "36-45", "46-50", "51-55", "55+"]),
            str(rng.randint(0, 20)),
            rng.choice("ABC"),
            rng.choice(["0", "1", "2", "3", "4+"]),
            rng.choice("01"),
        ]
        for product in rng.sample(sorted(products), rng.randint(2, 12)):
            rows.append([str(user), product, *facts, *products[product], str(rng.randint(200, 23_961))])
    names = [
        "User_ID",
        "Product_ID",
        "Gender",
        "Age",
        "Occupation",
        "City_Category",
        "Stay_In_Current_City_Years",
        "Marital_Status",
        "Product_Category_1",
        "Product_Category_2",
        "Product_Category_3",
        "Purchase",
    ]
    return Shape(names, rows, "User_ID", [], ["Product_ID"], names[2:8], True)


def movielens(rng: random.Random, n: int = 150) -> Shape:
    """Ratings, sorted by user."""
    movies = rng.sample(range(1, 190_000), 300)
    rows = [
        [
            str(user),
            str(movie),
            rng.choice(["0.5", "3.0", "3.5", "4.0", "5.0"]),
            str(rng.randint(8 * 10**8, 15 * 10**8)),
        ]
        for user in range(1, n + 1)
        for movie in sorted(rng.sample(movies, rng.randint(20, 40)))
    ]
    return Shape(["userId", "movieId", "rating", "timestamp"], rows, "userId", [], ["movieId"], [])


def instacart(rng: random.Random, n: int = 150) -> Shape:
    """Orders of users joined with their products."""
    products = rng.sample(range(1, 49_688), 120)
    rows = []
    orders = iter(rng.sample(range(1, 3_421_083), 10 * n))
    for user in rng.sample(range(1, 206_209), n):
        for number in range(1, rng.randint(3, 8)):
            order, dow, hour = next(orders), rng.randint(0, 6), rng.randint(0, 23)
            for place, product in enumerate(rng.sample(products, rng.randint(1, 8)), start=1):
                rows.append(
                    [
                        str(order),
                        str(user),
                        str(number),
                        str(dow),
                        str(hour),
                        str(product),
                        str(place),
                        rng.choice("01"),
                    ]
                )
    names = [
        "order_id",
        "user_id",
        "order_number",
        "order_dow",
        "order_hour_of_day",
        "product_id",
        "add_to_cart_order",
        "reordered",
    ]
    return Shape(names, rows, "user_id", ["order_id"], ["product_id"], [])


SHAPES: dict[str, Callable[[random.Random], Shape]] = {
    function.__name__: function
    for function in (
        uci_hospital,
        mimic_diagnoses,
        mimic_admissions,
        synthea_conditions,
        online_retail,
        black_friday,
        movielens,
        instacart,
    )
}
