"""The English sentences of the step Hierarchy."""

from __future__ import annotations

FAULTS_TITLE = "Faults of the file"
FAULTS_REFUSED = "The file cannot be used. Correct these lines and drop it again:"
FAULTS_TAKEN = "The file is used. Check these lines:"
FAULTS_HEADER = ("line", "content", "problem")
NAMES_TITLE = "Name categories without a name"
NAMES_NOTE = (
    "{n:,} categories are named after their items or by a number, the largest first. The name you give is published."
)
NAMES_NONE = "Every category has a name."
NAME_OF = "Name of the category of {items}"
NAME_GIVE = "Set name"
NAME_GIVE_TO = "Set name of {label}"
HIERARCHY_USE = {
    "required": "The chosen algorithm generalizes rare items and needs a hierarchy.",
    "optional": "Optional. With a hierarchy, rare items can be generalized to meaningful categories.",
    "none": "The chosen algorithm needs no hierarchy. You can continue.",
}
HIERARCHY_NONE = "Use no hierarchy"
HIERARCHY_OTHER = "Use another hierarchy, or none"
HIERARCHY_IN_USE = "In use: {name}."
HIERARCHY_BUILD = "Build a hierarchy"
HIERARCHY_AUTO = "From the data, with the lowest loss"
HIERARCHY_FANOUT = "Categories of equal size, items in order"
HIERARCHY_PREFIX = "Codes: prefix lengths, for example 1,3"
HIERARCHY_MAKE = "Build"
HIERARCHY_MAKE_OF = "Build: {label}"
HIERARCHY_FILE = "From a file"
HIERARCHY_FILE_NOTE = "CSV from leaf to root, child and parent, Amnesia, indented text and more."
HIERARCHY_SHOW = "Show {name}"
HIERARCHY_TITLE = "Hierarchy: {name}"
HIERARCHY_FACTS = "{n_items:,} items in {n_groups:,} categories, {height} levels above the items."
HIERARCHY_SEARCH = "Search items and categories"
HIERARCHY_PATH = "Path to this category"
HIERARCHY_MORE = "Show the next of {n:,} more"
HIERARCHY_BEFORE = "Show the previous ones"
HIERARCHY_REST = "and {n:,} more: open {label} to see them"
HIERARCHY_UNFOLD = "Unfold {label}"
HIERARCHY_TICK = "Select {label}"
HIERARCHY_OPEN = "Open {label}"
NODE_GROUP = "{items}, {support:,} entries"
NODE_ITEM = "{label}: {support:,} entries"
HIERARCHY_EDIT = "Change the hierarchy"
HIERARCHY_NAME = "Name"
HIERARCHY_RENAME = "Rename {label}"
HIERARCHY_MERGE = "Put the selection into a new category of this name"
HIERARCHY_SPLIT = "Move the selection out, into a new category of this name"
HIERARCHY_MOVE = "Move the selection into {label}"
HIERARCHY_MOVE_HOW = (
    "Select items or categories, open the category they belong to, and move them there. Or drag one onto a category."
)
HIERARCHY_CHOSEN = "Selected: {labels}."
HIERARCHY_SYSTEM = "Codes of a code system"
HIERARCHY_EMPTY = "No hierarchy is chosen. Build one, or drop a file. Without one, rare items are suppressed."
PREVIEW_TITLE = "What the guarantee would merge"
PREVIEW_NOTE = "Tries the chosen guarantee with this hierarchy on your data. Nothing is written."
PREVIEW_SHOW = "Show a preview"
PREVIEWING = "Trying the guarantee with this hierarchy …"
PREVIEW_FATES = "Items: {fates}"
PREVIEW_ITEMS = {
    "n_intact": "{n:,} unchanged",
    "n_mixed": "{n:,} unchanged in some records only",
    "n_generalized": "{n:,} generalized",
    "n_left_out": "{n:,} suppressed",
}
PREVIEW_PURITY = "Purity: {share} of the items of a category belong to its main branch, on average."
PREVIEW_HEADER = ("category", "items")  # and people, or visits
HIERARCHY_DISSOLVE = "Dissolve {label}"
HIERARCHY_UNDO = "Undo"
HIERARCHY_SAVE = "Save as CSV"
