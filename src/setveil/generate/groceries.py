"""Grocery baskets with readable names: the data of ``setveil demo``, small enough to look at.

A basket belongs to one or two occasions (breakfast, a party, a new baby), which decide most of what is in it; the rest
is taken from all shelves. Shops, names and figures are invented.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError
from setveil.generate.draws import ONE, Draws, choose, poisson_table, weight_table

# Department, then "category: item, item, …", the best sellers first.
_SHELVES = """
Fruit and vegetables
  fruit: apples, bananas, oranges, grapes, lemons
  vegetables: tomatoes, onions, carrots, peppers, cucumber, courgettes
  salad and herbs: lettuce, rocket, parsley, basil
  potatoes and roots: potatoes, sweet potatoes, beetroot
Bakery
  bread: white bread, rye bread, baguette, crispbread
  rolls and pastry: rolls, croissants, pretzels, muffins
  cakes: apple cake, cheesecake
Dairy and eggs
  milk: whole milk, skimmed milk, oat drink
  yoghurt and cream: yoghurt, cream, quark, sour cream
  cheese: gouda, mozzarella, feta, blue cheese
  butter and eggs: eggs, butter, margarine
Meat and fish
  fresh meat: minced beef, chicken breast, pork chops, lamb
  sausage and ham: salami, ham, frankfurters, liver pate
  fish: salmon, tuna, herring, shrimps
Pantry
  pasta and rice: spaghetti, penne, rice, couscous
  sauces and oil: tomato sauce, olive oil, pesto, mustard, soy sauce
  tins: chickpeas, sweetcorn, kidney beans
  baking: flour, sugar, baking powder, chocolate chips, vanilla
  breakfast cereals: muesli, cornflakes, porridge oats
  spreads: jam, honey, peanut butter
Drinks
  water and juice: still water, sparkling water, orange juice, apple juice
  soft drinks: cola, lemonade, iced tea, energy drink
  coffee and tea: coffee, black tea, herbal tea, cocoa
  beer: lager, wheat beer, alcohol-free beer
  wine and spirits: red wine, white wine, sparkling wine, gin, whisky
Snacks
  sweets: chocolate, wine gums, chewing gum, marzipan
  crisps and nuts: crisps, peanuts, cashews, popcorn
  biscuits: butter biscuits, wafers, shortbread
  ice cream: vanilla ice cream, ice lollies
Household
  cleaning: washing-up liquid, laundry powder, bleach, sponges
  paper: toilet paper, kitchen roll, napkins
  baby: nappies, baby food, baby wipes
  body care: shampoo, soap, toothpaste, razor blades
  pharmacy: plasters, headache tablets, nicotine patches, pregnancy test, sleeping pills
"""

# Occasion: how often, and the shelves it visits.
_OCCASIONS = (
    (
        26,
        "bread, rolls and pastry, milk, butter and eggs, spreads, breakfast cereals, coffee and tea, yoghurt and cream",
    ),
    (20, "pasta and rice, sauces and oil, cheese, vegetables, fresh meat, wine and spirits, salad and herbs"),
    (17, "fruit, vegetables, potatoes and roots, milk, bread, sausage and ham, water and juice"),
    (12, "beer, soft drinks, crisps and nuts, wine and spirits, sweets, paper, ice cream"),
    (10, "cleaning, paper, body care, pharmacy"),
    (8, "baking, butter and eggs, milk, cakes, biscuits, fruit"),
    (7, "rolls and pastry, soft drinks, sweets, biscuits, water and juice"),
    (5, "baby, milk, body care, pharmacy, tins"),
    (5, "fish, potatoes and roots, salad and herbs, tins, sauces and oil, wine and spirits"),
)
_TWO_OCCASIONS = 30  # percent of baskets
_FROM_ANY_SHELF = 20  # percent of items, from any shelf
_MEAN_LENGTH = 5.5
N_BASKETS, SEED = 5_000, 2024  # the bundled data


def groceries(n: int = N_BASKETS, *, seed: int = SEED) -> Transactions:
    """n baskets; the defaults give exactly the bundled demo data."""
    if n < 1 or seed < 0:
        raise InputError(f"n is {n} and the seed {seed}; at least one basket and no negative seed.")
    shelves = _shelves()
    items = [item for _, category in shelves for item in category[1]]
    vocabulary = Vocabulary(items)
    draws = Draws(seed, 6)
    lengths = 1 + choose(poisson_table(_MEAN_LENGTH - 1), draws.bits(n))
    occasion = choose(weight_table([share for share, _ in _OCCASIONS]), draws.bits(2 * n)).reshape(n, 2)
    occasion[:, 1] = np.where(draws.bits(n) < ONE * _TWO_OCCASIONS // 100, occasion[:, 1], occasion[:, 0])

    basket = np.repeat(np.arange(n), lengths)
    which = occasion[basket, draws.below(2, len(basket))]
    which[draws.bits(len(basket)) < ONE * _FROM_ANY_SHELF // 100] = len(_OCCASIONS)
    bits = draws.bits(len(basket))
    chosen = np.empty(len(basket), dtype=np.int64)
    for number, table in enumerate(_popularity()):
        here = which == number
        chosen[here] = choose(table, bits[here])
    layout = Layout("long", id_column="basket", item_column="item")
    return Transactions.from_pairs(basket, vocabulary.encode(items)[chosen], n, vocabulary, layout=layout)


def _shelves() -> list[tuple[str, tuple[str, list[str]]]]:
    """Pairs of department and (category, items), in order."""
    found, department = [], ""
    for line in _SHELVES.strip().split("\n"):
        if line.startswith(" "):
            category, items = line.strip().split(": ")
            found.append((department, (category, items.split(", "))))
        else:
            department = line
    return found


def _popularity() -> list[NDArray[np.uint64]]:
    """Per occasion, and for no occasion, the thresholds that choose an item; within a category sales fall off
    slowly.
    """
    visits = [set(categories.split(", ")) for _, categories in _OCCASIONS]
    visits.append({category for _, (category, _) in _shelves()})
    tables = []
    for visited in visits:
        weights: list[float] = []
        for _, (category, items) in _shelves():
            weights.extend(10 - place if category in visited else 0 for place in range(len(items)))
        tables.append(weight_table(weights))
    return tables


def write_demo_data(folder: Path) -> None:
    """Write ``baskets.csv.gz`` and ``taxonomy.csv``, the files in ``setveil.workflows.demo_data``."""
    rows = [f"{number},{item}\n" for number, row in enumerate(groceries().to_lists(), start=1) for item in row]
    (folder / "baskets.csv.gz").write_bytes(gzip.compress(("basket,item\n" + "".join(rows)).encode(), mtime=0))
    rows = [f"{item},{category},{department}\n" for department, (category, items) in _shelves() for item in items]
    (folder / "taxonomy.csv").write_text("item,category,department\n" + "".join(rows), encoding="utf-8", newline="\n")
