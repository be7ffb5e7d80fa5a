"""Every English word of the page, in one place. Sentences about models and problems come from where these are made."""

from __future__ import annotations

TITLE = "setveil"
NAME = "setveil"
MOTTO = "Your data stays on this machine."
SKIP = "Skip to the step"
NAVIGATION = "Steps"
SENDING = "Sending the file"

# Step: name in the navigation, heading, what it is for.
STEPS = {
    "open": ("Open", "Open your data", "One set of items per person: baskets, diagnosis codes, clicks."),
    "danger": ("Danger", "See the danger", "What somebody who knows a few items of a person can find out."),
    "protect": ("Protect", "Say what to protect", "Choose a promise. Nothing is published that does not keep it."),
    "hierarchy": (
        "Hierarchy",
        "What may stand for what",
        "Items are published as themselves or as a group above them.",
    ),
    "run": ("Run", "Make the release", "It is written, read back, and checked by code of its own."),
    "compare": ("Compare", "Compare the runs", "How much is left to find, and how much is left to use."),
    "handover": ("Hand over", "Hand it over", "What may leave the house, and what stays."),
    "check": ("Check", "Check a release", "Made here or by somebody else: does it keep what it claims?"),
}
NO_DATA_YET = "There is no data yet."
NEXT = "Next: {step}"
STAGE = "Working: {stage} …"
STAGE_SHARE = "Working: {stage}, {share:.0%} …"
READING = "Reading …"
ASSESSING = "Looking at what known items reveal …"
NOT_ASSESSED = "The risk could not be assessed."
BUILDING = "Working on the hierarchy …"
TRYING = "Trying what fits …"
CHECKING = "Checking …"

# refused at the door
REFUSED_FOREIGN = "Refused: this request names another host or comes from another page.\n"
REFUSED_STRANGER = "Refused: open the address that `setveil ui` printed; it carries the token.\n"
REFUSED_LARGE = "Refused: larger than allowed. Open large files by their path.\n"
CHILD_ENDED = "the process that worked on it ended unexpectedly; try again."
CHILD_STOPPED = "stopped; nothing was written."
CHILD_TOO_LARGE = "it needed more memory than this machine has to spare, and was stopped."
ADDRESS = "setveil ui: {address}\nCtrl-C ends it and removes its temporary data."
HOST_WARNING = (
    "warning: listening on {host}: other machines can reach this page, without encryption; whoever "
    "has the address sees the data."
)

# open
OPEN_ANOTHER = "Open another"
DROP_TITLE = "A file"
DROP_HERE = "Drop a file here"
CHOOSE_FILE = "Choose a file"
DROP_NOTE = (
    "CSV, TSV, JSON, Parquet, FIMI, SPMF, ARFF, GMT, plain or .gz, up to {megabytes} MB. It stays on this machine."
)
PATH_TITLE = "A large file, by its path"
PATH_LABEL = "Path on this machine"
PATH_OPEN = "Open this path"
PATH_NOTE = "The file is read where it lies."
SAMPLE_TITLE = "Just looking?"
SAMPLE_NOTE = "5,000 invented shopping baskets with a taxonomy: the whole tour takes a minute."
SAMPLE_OPEN = "Open the sample"
TOUR_START = "Take the tour"
TOUR_NAME = "Tour"
TOUR_WHERE = "Tour, stop {number} of {n}"
TOUR_NEXT = "Next stop of the tour"
TOUR_END = "End the tour"
TOUR = {
    "open": "These are invented baskets. Look at the first records: people are told apart by a number, which is never "
    "published.",
    "danger": "Search for “pregnancy test”, add one or two more items, and see how few people fit. That is how a "
    "neighbour finds somebody.",
    "protect": "Move k and m and read the sentence: it says who is protected from whom. The other promises are for "
    "sensitive items and for combinations you name.",
    "hierarchy": "The sample brings its taxonomy. Rare items may be published as the group above them; press “Show” "
    "to look through it.",
    "run": "Press “Start”. The release is written, read back and checked; the three lights say what to think of it.",
    "compare": "Go back, change k or the way, run again, and the runs appear here side by side.",
    "handover": "Download the archive: only what may leave the house is in it. The command repeats the run without "
    "this page.",
    "check": "Drop that archive here, as somebody who receives it would: the claim is checked from its files alone.",
}
TOO_LARGE = "The file is larger than {megabytes} MB: open it by its path."
NO_SUCH_FILE = "There is no file {path} on this machine."
NO_SUCH_FOLDER = "There is no folder {path} on this machine."
PREVIEW = "The first ten records, as they were understood"
PERSON = "person"
ITEMS = "items"
MORE = ", …"
ROLE_ID = "People are told apart by “{column}”. It is not published."
ROLE_ITEM = "Items come from “{column}”."
ROLE_UNUSED = "Not used: {columns}."
EMPTY_RECORDS = "{n:,} people have no item."
CORRECT = "Not what you meant? Say how to read {name}"
CORRECT_NOTE = "Leave empty whatever was understood correctly."
COLUMNS = "The columns and what they are taken for"
COLUMNS_HEADER = ("column", "begins with", "is taken for")
ROLES = {"id": "tells people apart", "item": "items", "unused": "not used"}
ROLE_OF = "What {column} is"
READ_AGAIN = "Read it again"
DETECT = "detect it"
FORMATS = {
    "fimi": "FIMI: item numbers, one person per line",
    "spmf": "SPMF",
    "long": "long table: one row per person and item",
    "wide": "wide table: one row per person, items in columns",
    "onehot": "one column per item, 0 or 1",
    "table": "table of attributes: items are column=value",
    "basket": "baskets: items of a person on one line",
    "gmt": "gene sets (GMT)",
    "arff": "ARFF",
    "jsonl": "JSON lines",
    "json": "JSON",
    "parquet": "Parquet",
}
OPTIONS = {
    "format": "Layout",
    "delimiter": "Delimiter (tab for a tab)",
    "id_column": "Column that tells people apart",
    "item_column": "Column of items",
    "item_columns": "Columns of items, as dx* or a,b,c",
    "split": "What separates items inside a cell",
    "missing": "Words for missing values: drop or value",
    "encoding": "Encoding, as latin-1",
    "no_header": "The first line is a row, not a header",
    "strip": "Take blanks off labels",
    "labels_as_they_are": "The labels are right as they are",
    "algorithm": "Algorithm",
    "accept_guessable": "I accept that, and publish such groups",
}

# danger
CURVE_TITLE = "Who is singled out"
CURVE_TABLE = "People singled out by number of known items"
CURVE_HEADER = ("known items", "singled out", "chance to pick right")
SAMPLED = "Some figures are estimated from a sample of people."
RAREST_TITLE = "Combinations that only one person has"
RAREST_NOTE = "Whoever knows these about somebody has found the record."
RAREST_HEADER = ("items", "people")
RAREST_NONE = "No item and no pair of items belongs to one person only."
SUPPORTS_TITLE = "How common items are"
LENGTHS_TITLE = "How many items people have"
TRY_TITLE = "Try it yourself"
TRY_NOTE = "Pick two or three items you might know of a neighbour."
TRY_LABEL = "Search an item"
FITTING = ("Nobody has all of these.", "Exactly one person fits: found.", "{n:,} people fit.")
ITEM_SUPPORT = "{item} ({support:,})"
ADD_ITEM = "Add {item}"
REMOVE_ITEM = "Remove {item}"
CHOSEN = "Chosen: {label}"
FOUND = "Found: {label}"

# protect
SUGGEST_NOTE = (
    "Not sure? A few settings that fit this data are tried, and those that work are shown with what they cost."
)
SUGGEST = "Suggest something"
SUGGESTED = "Suggested, tried and verified"
PROPOSAL = "Proposal"
PURPOSE = "What it is for"
PURPOSES = {"publish": "anybody may have it", "share": "a partner gets it", "internal": "it stays inside"}
TAKE = "Take this"
MODEL_TITLE = "The promise"
MODELS = {
    "km": "Hide everybody in a crowd, from people who know a few items",
    "degree": "Hide who has a sensitive item, and keep everything else exact",
    "k-anonymity": "Make whole records alike",
    "coherence": "Both: hide in a crowd, and hide sensitive items",
    "constraints": "Hide only combinations that I name",
}
NUMBERS_TITLE = "How strong"
NUMBERS = {
    ("km", "k"): "k: people in the crowd",
    ("km", "m"): "m: items somebody may know",
    ("degree", "p"): "p: one in how many may have a sensitive item",
    ("k-anonymity", "k"): "k: people with the same record",
    ("k-anonymity", "l"): "l: different sensitive items among them",
    ("coherence", "h"): "h: largest share with one sensitive item, in percent",
    ("coherence", "k"): "k: people in the crowd",
    ("coherence", "p"): "p: items somebody may know",
    ("constraints", "k"): "k: people in the crowd",
    ("constraints", "max_suppressed"): "largest share of items that may be left out, in percent",
}
M_ALL = "any number of items, up to the whole record"
PICTURES = {
    "km": "five people alike under a lens",
    "degree": "a group of four people, and a secret that belongs to one of them",
    "k-anonymity": "three records with the same items",
    "coherence": "people alike under a lens, and a secret apart from them",
    "constraints": "two items of many, joined by a line",
}
PROMISE_TITLE = "In plain words"
ATTACKER = ("Somebody knows", "and wants", "but gets")
NOT_PROTECTED = "What this does not protect"
SENSITIVE_TITLE = "Sensitive items"
SENSITIVE_LABEL = "Search sensitive items"
SENSITIVE_NOTE = {
    "degree": "The items that nobody must be linked to.",
    "coherence": "The items that nobody must be linked to.",
    "k-anonymity": "Optional: items that are published as they are, and not counted as known.",
}
CONSTRAINTS_TITLE = "Combinations"
CONSTRAINTS_NOTE = "Items that somebody may know together. Each combination is hidden in a crowd, or does not occur."
CONSTRAINTS_LABEL = "Search items of one combination"
CONSTRAINTS_ADD = "Add this combination"
UTILITY_TITLE = "Groups that must not be mixed"
UTILITY_NOTE = "Items of one group may be published as one another; items of two groups never."
UTILITY_LABEL = "Search items of one group"
UTILITY_ADD = "Add this group"
UTILITY_REST = "Items in no group"
UTILITY_RESTS = {"free": "may be mixed with each other", "keep": "stay as they are"}
N_CHIPS = 40  # chosen items that are shown one by one
GROUP_ITEMS = "all {n:,} of {label}"
AND_MORE = "and {n:,} more"
REMOVE_ALL = "Remove all {n:,}"
WAY_TITLE = "The way to get there"
WAY_LABEL = OPTIONS["algorithm"]
WAY_SEVERAL = "several, and the one that loses least is taken"
EFFORT_LABEL = "How long it may look"
EFFORTS = {
    "fast": "quick: the ways that take seconds (usual here)",
    "normal": "longer: what the command line does unless told otherwise",
    "best": "longest: also ways that take minutes",
}
GUESSABLE_NOTE = (
    "“{name}” forms its groups around the sensitive records, and that shows: who holds what can be guessed more often "
    "than the promise says. The report tells how often."
)
GUESSABLE = OPTIONS["accept_guessable"]
WAY_USUAL = "the usual one ({name})"

# hierarchy
FAULTS_TITLE = "Faults of the file"
FAULTS_REFUSED = "The file cannot be used as it is. Mend these lines and drop it again:"
FAULTS_TAKEN = "The file is used, but look at these lines:"
FAULTS_HEADER = ("line", "what stands there", "what is wrong")
NAMES_TITLE = "Name groups that have none"
NAMES_NOTE = "{n:,} groups go by their members or a number, the largest first. A name is published in place of them."
NAMES_NONE = "Every group has a name."
NAME_OF = "Name of the group of {items}"
NAME_GIVE = "Name it"
NAME_GIVE_TO = "Name {label}"
TREE_USE = {
    "required": "The way that is chosen publishes groups instead of rare items; a hierarchy says which groups "
    "make sense.",
    "optional": "With a hierarchy, groups that make sense can be published "
    "instead of rare items. It also goes without.",
    "none": "The way that is chosen needs no hierarchy. You may go on.",
}
TREE_NONE = "Go without a hierarchy"
TREE_BUILD = "Build one"
TREE_AUTO = "From the data, whichever loses least"
TREE_FANOUT = "Groups of so many, in order"
TREE_PREFIX = "Codes: prefix lengths, as 1,3"
TREE_MAKE = "Build"
TREE_MAKE_OF = "Build: {label}"
TREE_FILE = "From a file"
TREE_FILE_NOTE = "Leaf to root as CSV, child and parent, Amnesia, indented text and more."
TREE_SHOW = "Show {name}"
TREE_TITLE = "Hierarchy: {name}"
TREE_FACTS = "{n_items:,} items in {n_groups:,} groups, {height} levels above the items."
TREE_SEARCH = "Search items and groups"
TREE_WAY = "The way to this group"
TREE_MORE = "Show the next of {n:,} more"
TREE_BEFORE = "Show those before"
TREE_REST = "and {n:,} more: open {label} to see them"
TREE_UNFOLD = "Unfold {label}"
TREE_TICK = "Choose {label}"
TREE_OPEN = "Open {label}"
NODE_GROUP = "{n:,} items, {support:,} entries"
NODE_ITEM = "{label}: {support:,} entries"
TREE_EDIT = "Change it"
TREE_NAME = "Name"
TREE_RENAME = "Rename {label}"
TREE_MERGE = "Put the chosen into a group of this name"
TREE_SPLIT = "Take the chosen out, into a group of this name beside it"
TREE_TARGET = "Name of a group"
TREE_MOVE = "Move the chosen one there"
TREE_MOVE_HOW = (
    "Choose one item or group, and write the name of the group it should go to; that name must stand once in the tree."
)
TREE_DISSOLVE = "Dissolve {label}"
TREE_UNDO = "Undo"
TREE_SAVE = "Save as CSV"
TREE_CHANGED = "changed by hand"

# run
RUN_START = "Start"
RUN_ANOTHER = "Start another run"
RUN_WITH = "Way: {way}. Hierarchy: {tree}."
RUN_USUAL = "the usual one"
TREE_UNUSED = "none"
RUN = "run"
RUN_NAME = "Run {number}"
RUN_HEADING = {
    "running": "Run {number}: working",
    "done": "Run {number}: the promise is kept",
    "failed": "Run {number}: no release",
    "cancelled": "Run {number}: cancelled, nothing was written",
}
PROGRESS = "Progress of this stage"
STARTING = "starting"
RUN_STAGE = "{stage} · {seconds:.0f} s"
RUN_LEFT = " · about {seconds:.0f} s left in this stage"
CANCEL = "Cancel"
CANCEL_RUN = "Cancel run {number}"
INFEASIBLE_NOTE = (
    "No release can keep this promise. Ask for a smaller crowd or fewer known items, or leave out "
    "the items named above."
)
FAILED_NOTE = "Nothing was written."
ADVICE = "Before you decide"
FIGURES = "Figures"
KEY_BEFORE = "□ – – before"
KEY_AFTER = "● —— after"
KEY_PROMISED = "the promise speaks about this part"
COST = "what it cost"
RUN_TOOK = "Took {seconds:.1f} s."
REPORT_INTERNAL = "Open the internal report"
REPORT_PUBLIC = "Open the public report"
HANDOVER_RUN = "Hand over run {number}"

# compare
COMPARE_NONE = "There is no release yet."
COMPARE_TABLE = "The runs side by side"
SETTING = "setting"
COMPARE_COLUMNS = {
    "exact": "published exactly",
    "largest": "largest set",
    "chance": "attacker's chance",
    "singled_out": "singled out",
    "sensitive_chance": "chance of a sensitive item",
    "error": "error of pair counts",
    "reconstruction": "reconstruction error",
    "items": "items",
    "seconds": "seconds",
}
COMPARE_HOW = (
    "Further left, an attacker finds less. Further down, what is counted is closer to the truth.",
    "The line joins runs that no other beats in both (★).",
    "Groups have a picture of their own, by what they hide and lose: who has sensitive items.",
    "Click a point, or press Enter on it, to see that run below.",
)
COMPARE_NOTE = (
    "The attacker knows three random items of a person. ★: no other run is better in both chance and error; groups are "
    "ranked among themselves, by the chance of a sensitive item and the reconstruction error."
)
SIDE_BY_SIDE = "Side by side"
SIDE_BY_SIDE_NOTE = "Choose runs here or in the picture. What follows is about your records and stays in the house."
CUT_TITLE = "What became of the items"
LOSSES_TITLE = "The biggest losses"
LOSSES_HEADER = ("published", "what happened", "share", "what forced it")
LOSS_CAUSES = {
    "combination": "too few have {items} ({n:,})",
    "record": "too few have exactly {items} ({n:,})",
    "group": "at most one in {n:,} of a group may have it",
    "": "not told by this way",
}
EXAMPLES_TITLE = "Single records"
EXAMPLES_NOTE = "A few short records that changed."
EXAMPLES_HEADER = ("before", "after")
EXAMPLE_MARKS = {"removed": "{item} (removed)", "added": "{item} (added)"}
EXAMPLE_SET = "{item} (one of {n:,})"
EXAMPLE_EMPTY = "nothing"
EXAMPLE_GROUP = "in a group of {n:,} with {counts}"
EXAMPLE_NO_SECRET = "no sensitive item"
REPORT_OF = "Report of run {number}"

# hand over
WHICH_RUN = "Which run"
ZIP_TITLE = "May leave the house"
ZIP_NOTE = "The public folder, and nothing else:"
ZIP = "Download the archive"
KEEP_TITLE = "Stays in the house"
KEEP_NOTE = "Both folders, OUT and OUT.internal, are copied to a place on this machine. Until then they are temporary."
KEEP_LABEL = "Folder to create, as /data/release"
KEEP = "Keep it there"
KEPT = "Public: {public}. Internal, for you only: {internal}."
REPEAT_TITLE = "Do it again without this page"
REPEAT_NOTE = "With {files} beside the data, this command gives the same bytes:"
REPEAT_AND = " and "
REPEAT_POLICY = "policy.toml"
REPEAT_TREE = "hierarchy.csv"

SIGN_TITLE = "Sign-off"
SIGN_NOTE = "Goes into the internal report and the policy file; what is empty stays a line to fill in by hand."
SIGN = "Put it into the report"
SIGNED = "It is in the report of run {number}."
ABOUT = {"title": "Data set", "purpose": "Purpose", "responsible": "Responsible", "date": "Date"}

# check
CHECK_ZIP = "An archive"
DROP_ZIP = "Drop a .zip here"
CHECK_FOLDER = "A folder"
CHECK_PATH = "Path of the release folder"
CHECK = "Check it"
CHECK_ANOTHER = "Check another"
CHECK_ORIGINAL = "It was made from {name}: compare it with that"
ANSWERS = {
    "yes": "{name}: it holds",
    "no": "{name}: it does not hold",
    "unknown": "{name}: that cannot be told here",
}
ANSWER_GUESSABLE = "{name}: it holds, but who holds what can be guessed"
UNCHECKED = "Cannot be checked here: {line}"
PUBLISHER = "The publisher says, not checked here: made by setveil {version} with {way}."
