"""The English sentences of the page; ``texts_hierarchy`` and ``help`` have more. Models and errors bring their own."""

from __future__ import annotations

from setveil.io import options, roles

TITLE = "setveil"
MOTTO = "Your data stays on this machine."
SKIP = "Skip to the step"
NAVIGATION = "Steps"
SENDING = "Sending the file"
SENDING_FILE = "Sending {name} …"
NOT_SENT = "“{name}” did not arrive completely. Choose it again."

# Step: name in the navigation, heading, what it is for.
STEPS = {
    "start": ("Workspaces", "Open your data", "One set of items per person: baskets, diagnosis codes, clicks."),
    "columns": (
        "Columns",
        "Say what each column is",
        "Which column identifies a person, which hold items, and which an attacker may know.",
    ),
    "overview": ("Overview", "Overview of your data", "Check that this is what you expect before you decide anything."),
    "risk": (
        "Risk",
        "Risk before anonymization",
        "An attacker who knows a few items of a person may single out that person's record.",
    ),
    "protect": (
        "Protect",
        "Choose a guarantee",
        "Choose a privacy model and its parameters. A release is published only if the guarantee is verified.",
    ),
    "hierarchy": (
        "Hierarchy",
        "Choose a hierarchy",
        "The hierarchy defines the categories that rare items can be generalized to.",
    ),
    "run": (
        "Run",
        "Make the release",
        "setveil writes the release, reads it back, and verifies it with independent code.",
    ),
    "compare": ("Compare", "Compare the runs", "Residual risk and utility of all runs on this data set."),
    "handover": ("Hand over", "Hand over a release", "Download the public files, and keep the internal ones."),
    "check": ("Check", "Check a release", "Verify the guarantee of a release from its files."),
}
NO_DATA_YET = "There are no records to show yet. Open a file, or set how it is read."
NEXT = "Next: {step}"
BACK = "Back: {step}"
DONE = "{step}, done"
HELP_OPEN = "What is this?"
CLOSE = "Close"
HELP_NAME = "Help"
GO_TO = "Go to {step}"
STAGE = "Working: {stage} …"
STAGE_SHARE = "Working: {stage}, {percent:.0f} % …"
READING = "Reading …"
ASSESSING = "Assessing the risk …"
NOT_ASSESSED = "The risk could not be assessed."
BUILDING = "Working on the hierarchy …"
TRYING = "Trying several settings …"
CHECKING = "Checking …"

# the data set that is shown
DATASET = "Data set"
DATASET_NONE = "No data set is open."
DATASET_NAME = "Data set {number}: {name}"
DATASET_FACTS = "{people:,} people, {items:,} items. {record}"
DATASET_VISITS = "{people:,} visits, not people; {items:,} items. {record}"
DATASET_UNREAD = "The file could not be read."
DATASET_UNDECIDED = "Not read yet: state the roles of its columns."
DATASET_SWITCH = "Switch to another data set"
DATASETS = "Open workspaces"
DATASETS_NONE = "Nothing is open. Each file that you open becomes a workspace with its own decisions and runs."
DATASETS_NOTE = "They are deleted when setveil ui ends, unless you keep them."
DATASET_RUNS = ("{n:,} runs", "1 run")  # several, one
DATASET_SHOW = "Show"
DATASET_KEEP = "Keep"
DATASET_KEEP_AGAIN = "Keep the changes"
KEPT_TITLE = "Kept workspaces"
KEPT_NONE = "None. “Keep” stores a workspace in {place} on this machine, with its data and runs."
KEPT_NOTE = "Stored in {place}, with data and runs. Deleting is final."
KEPT_OPEN = "Open"
KEPT_DELETE = "Delete"
KEPT_CHANGED = (
    "The file or the version of setveil changed after this workspace was kept. The decisions were opened; the runs "
    "were not."
)
KEPT_BROKEN = "The workspace cannot be opened ({reason}). Delete it, and open the file again."
KEEP_FAILED = "The workspace was not kept ({reason}). Free some space, or check the folder."
NOT_SAVED = "“{name}” could not be stored ({reason}). Free some space, or open the file by its path."
FILE_CHANGED = "{name} changed after it was read. Read it again on the step Columns."
RECORD_OF_COLUMN = "One record per value of column “{column}”."
RECORD_OF_ROW = "One record per row of the file."
OTHER_SESSION = (
    "Another browser opened this page at {time}. If that was not you, press Ctrl-C in the terminal of setveil ui: "
    "another person may know its address."
)
DISMISS = "Dismiss"

# lights of a release
ABOUT_VISITS = "The records are visits, not people: the guarantee and all figures are about visits."
LIGHTS = "lights"
LIGHT = "{question}: {answer}"
LIGHT_AND = " · "

# refused requests, child processes, the terminal
REFUSED_FOREIGN = "Refused: this request names another host or comes from another page.\n"
REFUSED_STRANGER = "Refused: open the address that `setveil ui` printed. It contains the token.\n"
REFUSED_LARGE = "Refused: larger than allowed. Open large files by their path.\n"
REFUSED_SLOW = "Refused: the request took too long.\n"
OPEN_PAGE = "Open setveil"
CHILD_ENDED = "The process that worked on this ended unexpectedly. Try again."
CHILD_STOPPED = "Stopped. Nothing was written."
CHILD_TOO_LARGE = "Stopped: this needed more memory than the machine has to spare."
DEMO_PREPARING = "Making three releases of the bundled data to compare. This takes a moment."
ADDRESS = "setveil ui: {address}\nCtrl-C ends it and removes its temporary data."
HOST_WARNING = (
    "warning: listening on {host}: other machines can reach this page without encryption. Everybody who has the "
    "address can see the data."
)

# start
DROP_TITLE = "A file"
DROP_HERE = "Drop a file here"
CHOOSE_FILE = "Choose a file"
DROP_NOTE = "Tables (CSV, TSV, Excel), {formats}; plain or .gz. The file stays on this machine."
DROP_LIMIT = "Up to {megabytes:,} MB."
DROP_LIMIT_DISK = "Up to {megabytes:,} MB: the disk has no room for more."
RECEIVED_TITLE = "Did you receive a release?"
RECEIVED_NOTE = "Verify its guarantee from its files alone. You need no data of your own."
RECEIVED_CHECK = "Check a release"
PATH_TITLE = "A large file, by its path"
PATH_LABEL = "Path on this machine"
PATH_OPEN = "Open this path"
PATH_NOTE = "The file is read in place and not copied."
SAMPLE_TITLE = "No data at hand?"
SAMPLE_NOTE = "5,000 synthetic shopping baskets with a hierarchy. The tour takes a minute."
SAMPLE_OPEN = "Open the sample"
TOUR_START = "Take the tour"
TOO_LARGE = "The file is larger than {megabytes} MB. Open it by its path."
NO_SUCH_FILE = "There is no file {path} on this machine. Check the path."
NO_SUCH_FOLDER = "There is no folder {path} on this machine. Check the path."
OVERVIEW_FIGURES = {
    "records": "{many}",
    "items": "different items",
    "length": "items per {one} (median)",
    "rare": "items that fewer than {n} {many} have",
    "empty": "{many} without any item",
}
PURPOSE_TITLE = "Whom is the release for?"
PURPOSE_NOTE = "Asked once. Proposals, lights and the assessment use it."
PURPOSE = "Who can obtain it"
PROFILE = "Threshold to meet"
PROFILE_NONE = "none in particular (k of at least {k})"
RECIPIENT = "Recipient"
KNOWN_COLUMNS = "Columns besides the items"
KNOWN_COLUMNS_HEADER = ("column", "role", "most common values", "values", "missing")
LENGTH_RANGE = "{low:,} to {high:,}"
COMMON_TITLE = "Most common items"
ONE_AND_MANY = {False: ("person", "people"), True: ("visit", "visits")}  # by whether records are visits
COMMON_HEADER = ("item", "{many}", "share")
CODE_NAMES = "Names of codes"
CODE_NAMES_NOTE = (
    "Drop a list of codes with descriptions (CSV: code,description). The descriptions are then shown next to the codes "
    "on this page, in the reports and in the codebook. Published records stay the same."
)
CODE_NAMES_TAKEN = "Descriptions are from {name}."
CODE_NAMES_NONE = "Use no list"
HOW_READ = "How the file was read"
PREVIEW = "The first ten records, as they were read"
ITEMS = "items"
MORE = ", …"
NO_COLUMNS = "This file has no named columns, or too many to list. One line is one person."
CORRECT = "More reading options"
CORRECT_NOTE = "Leave a field empty where the detected value is right."
READ_AGAIN = "Read the file with these settings"
COLUMNS = "Columns and their roles"
COLUMNS_NOTE = (
    "The roles are proposals, made from names and content. Correct them where they are wrong, then read the file with "
    "them."
)
COLUMNS_STATED = "The file was read with these roles."
COLUMNS_UNCLEAR = "{what}. Check the roles below, then press “{read}”."
COLUMNS_HEADER = ("column", "common values", "role", "reason of the proposal")
COLUMN_VALUES = ("{n:,} values", "1 value")  # several, one
COLUMN_SHARES = {"missing": "{share} missing", "unique": "{share} of rows have a unique value"}
COLUMN_TREE = "Hierarchy, such as bands:5,10,20"
ROLES = {
    "person": "person: identifies a person",
    "item": "items",
    "known": "known: an attacker may know it",
    "sensitive": "sensitive: must not be learned",
    "carry": "carry: published unchanged",
    "drop": "drop: not read",
}
ROLE_OF = "Role of {column}"
COLUMN_TREE_OF = "Hierarchy of {column}"
COLUMN_SAME = "The same for all {n:,} columns {stem}…"
OPEN_ANOTHER = "Open another file"
DETECT = "detect"
OPTIONS = {
    **{option.name: option.label for option in options.READING.values()},
    **{older: options.READING["person" if older == "id_column" else "item"].label for older in roles.OLDER},
    "algorithm": "Algorithm",
    "hierarchy": "Hierarchy",
    "accept_guessable": "I accept this and publish such groups",
    "sign": "Path of the private key",
}

# risk
PEOPLE_TITLE = "Who can be singled out"
PEOPLE_SLIDER = "Items of the {one}: {n}"
PEOPLE_SLIDER_NAME = "Items of a person that the attacker knows"
PEOPLE_SENTENCE = "Of 100 {many}{base}, {n} can be singled out by an attacker who knows {knows}."
PEOPLE_WITH = " with at least {items}"
PEOPLE_KNOWS = "What the attacker knows"
PEOPLE_NOTHING = "An attacker who knows nothing singles out nobody. Choose what the attacker knows."
AND = " and "
PEOPLE_WORST = "An attacker who knows the most revealing items of each {one} singles out {n}."
PEOPLE_NONE = "No {one} has at least {items}."
PEOPLE_ALL = "Of all {many}, that is {share}; with the most revealing items {worst}."
PEOPLE_PICTURE = "100 {many}: {n} singled out by known items, {worst} by their most revealing items."
PEOPLE_KEY = ("singled out", "singled out by the most revealing items only", "not singled out")
N_ITEMS = ("{n:,} items", "1 item")  # several, one
FEWER = "fewer than 1"
NEARLY = "more than 99"
CURVE_TABLE = "{who} singled out, by number of known items"
CURVE_HEADER = ("known items", "singled out", "by the most revealing items", "probability of picking the right record")
SAMPLED = "Some figures are estimated from a sample of people."
RAREST_TITLE = "Examples that lead to one {one}"
RAREST_NOTE = "An attacker who knows one of these combinations re-identifies the {one}. Press one to try it."
TRY_THESE = "Try {items}"
RAREST_NONE = "No item and no pair of items belongs to one {one} only."
SUPPORTS_TITLE = "How common items are"
LENGTHS_TITLE = "Items per {one}"
TRY_TITLE = "Look for a {one}"
VALUE_OF = "{column} {value}"
TRY_NOTE = "Choose what you know about a {one} in the data. The page counts who matches."
TRY_LABEL = "Search an item"
FITTING = (
    "No {one} has all of these items.",
    "Exactly one {one} matches: re-identified.",
    "{n:,} {many} match.",
)
ITEM_SUPPORT = "{item} ({support:,})"
ADD_ITEM = "Add {item}"
REMOVE_ITEM = "Remove {item}"
CHOSEN = "Chosen: {label}"
FOUND = "Found: {label}"

# protect
SUGGEST_NOTE = "Not sure? setveil tries several settings on this data and shows those that work, with their cost."
SUGGEST = "Suggest settings"
SUGGEST_FOR = "For this audience: {purpose}. You chose it on the step Overview."
SUGGEST_CANCEL = "Cancel the search"
SUGGEST_LONGER = "Press “{suggest}” again to allow twice the time."
SUGGEST_OTHERWISE = "More is possible for a narrower audience, or with fewer or coarser known columns."
SUGGESTED = "Suggested settings, tried and verified"
PROPOSAL = "Proposal"
PROPOSAL_NAME = "{letter}: {role}"
ORIGINAL = "original"
ORIGINAL_WORDS = "the data as it is"
PLANE_NOTE = "Further left: fewer people can be singled out. Further down: counts are closer to the original."
PLANE_FLOOR = (
    "A line across is a floor: counts shown by a release that hides pairs of fewer than k people cannot be below it. "
    "Estimates of hidden pairs can."
)
FLOOR = "Counts of pairs are off by {error} on average. The floor at k={k} is {floor}."
OWN_CHOICE = "Or choose a guarantee yourself"
SINGLED_OUT = "of all {many} are singled out by the worst attacker tried"
UNCHANGED = "of entries are published unchanged"
PAIRS_OFF = "is the mean error of counts of pairs"
GUARANTEE_GRADES = {"good": "verified", "care": "verified, with limits", "bad": "below the threshold"}
DETAILS = "Details and algorithm"
REASONS = "Why these settings"
REJECTED = "Settings that were rejected"
TAKE = "Use this"
TAKEN = "In use"
MODEL_TITLE = "Privacy model"
MODEL_REFUSES = "Does not protect your columns."
NUMBERS_TITLE = "Parameters"
WORD_INSTEAD = "{name}: “{word}” instead of a number"
ALLOWED = "Allowed: {range}."
NOT_SET = "not set"
PICTURES = {
    "crowd": "five similar people under a lens",
    "group": "a group of four people, and a sensitive item that belongs to one of them",
    "records": "three records with the same items",
    "both": "similar people under a lens, and a sensitive item apart from them",
    "pair": "two items of many, joined by a line",
}
GUARANTEE_TITLE = "Guarantee"
ATTACKER = ("Attacker knows", "wants", "gets")
NOT_PROTECTED = "Not protected"
LIST_ITEMS = "{name} items"
LIST_GROUPS = "{name} groups"
LIST_SEARCH = "Search {title}"
LIST_LINES = "{title}, one per line"
SET_SEARCH = "Search items for one entry of {title}"
SET_ADD = "Add to {title}"
N_CHIPS = 40  # chosen items that are shown one by one
GROUP_ITEMS = "all {n:,} of {label}"
AND_MORE = "and {n:,} more"
REMOVE_ALL = "Remove all {n:,}"
ALGORITHM_TITLE = "Advanced: algorithm"
ALGORITHM_LABEL = OPTIONS["algorithm"]
ALGORITHM_SEVERAL = "automatic (several are tried; the one with the lowest loss is used)"
ALGORITHM_NONE = "No installed algorithm can enforce this privacy model. Install one, or choose another model."
ALGORITHM_DEFAULT = "default ({name})"
EFFORT_LABEL = "Search effort"
EFFORTS = {
    "fast": "fast: algorithms that take seconds (default here)",
    "normal": "normal: the default of the command line",
    "best": "best: also algorithms that take minutes",
}
GUESSABLE_NOTE = (
    "“{name}” forms its groups around the sensitive records. An attacker can therefore guess who has a sensitive item "
    "more often than the guarantee says. The report states how often."
)
GUESSABLE = OPTIONS["accept_guessable"]

# hierarchy: what other steps say, too
PRODUCT_LIST = " (CSV: code,category)"
HIERARCHY_CHANGED = "edited"

# run
RUN_START = "Start"
RUN_ANOTHER = "Start another run"
RUN_NEXT = "The next run"
RUN_CHANGE = "Change the guarantee"
RUN_WITH = "Algorithm: {algorithm}. Hierarchy: {hierarchy}."
RUN_DEFAULT = "default"
HIERARCHY_UNUSED = "none"
RUN_NAME = "Run {number}"
RUN_CHOICE = "Run {number}: {lights}"
RUN_HEADING = {
    "running": "Run {number}: working",
    "done": "Run {number}: guarantee verified",
    "failed": "Run {number}: no release",
    "cancelled": "Run {number}: cancelled, nothing was written",
}
RUNS_ALL = "All runs"
REASONS_OF_LIGHTS = "The figures behind the lights"
PROGRESS = "Progress of this stage"
STARTING = "starting"
RUN_STAGE = "{stage} · {seconds:.0f} s"
RUN_LEFT = " · about {seconds:.0f} s left in this stage"
CANCEL = "Cancel"
CANCEL_RUN = "Cancel run {number}"
INFEASIBLE_NOTE = (
    "No release can meet this guarantee. Choose a smaller k or fewer known items, or suppress the items named above."
)
FAILED_NOTE = "Nothing was written."
ADVICE = "Recommendations"
FIGURES = "Figures"
KEY_BEFORE = "□ – – before"
KEY_AFTER = "● —— after"
KEY_REACH = "covered by the guarantee"
COST = "loss"
RUN_TOOK = "Duration: {seconds}."
REPORT_INTERNAL = "Open the internal report"
ASSESSMENT = "Open the assessment"
REPORT_PUBLIC = "Open the public report"
HANDOVER_RUN = "Hand over run {number}"

# compare
COMPARE_NONE = (
    "There is no release of this data set yet. Make one, then a second with other settings, and compare them here."
)
COMPARE_TABLE = "All runs of this data set"
SETTING = "setting"
COMPARE_COLUMNS = {
    "exact_ratio": "published unchanged",
    "largest_set": "broadest category",
    "mean_chance": "probability of linking",
    "singled_out": "singled out",
    "sensitive_chance": "probability of a sensitive item",
    "avg_re": "error of pair counts",
    "mixed_re": "error by columns and items",
    "kl": "reconstruction error",
    "published_items": "different labels",
    "seconds": "duration",
}
COMPARE_HOW = (
    "Further left: lower risk. Further down: counts are closer to the original.",
    "The line joins runs that no other run beats in both (★).",
    PLANE_FLOOR,
    "Bold: the best figure of its row. Grey: the same in all runs.",
    "Probability of linking: the attacker knows three items of a person.",
    "Press a point, or a run in the table, to show that run in detail below.",
)
COMPARE_HOW_GROUPS = (
    "Releases in groups have a chart of their own: probability of a sensitive item, and reconstruction error.",
    "They are ranked separately.",
)
COMPARE_NO_CHART = "These runs have no common measure of risk and loss, so there is no chart."
COMPARE_READ = "How to read the chart"
COMPARE_COMMON = "All runs: {setting}."
COMPARE_BEST = " (best)"
COMPARE_REPORT = "internal report"
COMPARE_OPEN = "open"
COMPARE_ONE = "Run {number} in detail"
CUT_TITLE = "How items are published"
CUT_PRESS = "Press a block to see what it covers."
LOSSES_TITLE = "Largest losses"
LOSSES_HEADER = ("published", "change", "share", "cause")
LOSS_CAUSES = {
    "combination": "too few people have {items} ({n:,})",
    "record": "too few people have exactly {items} ({n:,})",
    "group": "at most one in {n:,} people of a group may have it",
    "": "not reported by this algorithm",
}
EXAMPLES_TITLE = "Records before and after"
EXAMPLES_NOTE = "A few short records that changed. They are original records: for internal use only."
EXAMPLES_SHOW = "Show these records"
EXAMPLES_HEADER = ("before", "after")
EXAMPLE_MARKS = {"removed": "{item} (suppressed)", "added": "{item} (added)"}
EXAMPLE_SET = "{item} (one of {n:,} items)"
EXAMPLE_EMPTY = "no item"
EXAMPLE_GROUP = "in a group of {n:,} with {counts}"
EXAMPLE_NOT_SENSITIVE = "no sensitive item"
REPORT_OF = "Report of run {number}"

# hand over
HANDOVER_NONE = "There is no release of this data set yet. Make one, and hand it over here."
WHICH_RUN = "Run to hand over"
REASON_TITLE = "A reason is required"
REASON_NOTE = (
    "At least one light is red. Write down why this release is handed over all the same. The reason is recorded in "
    "run.json, the policy and the internal report."
)
REASON_LABEL = "Reason"
REASON_RECORD = "Record the reason"
REASON_RECORDED = "The reason is recorded in the internal report of run {number}."
REASON_MISSING = "A light of this run is red. Record a reason before you hand it over."
REASON_SHORT = "The reason is too short. Write at least {n} characters."
ZIP_TITLE = "Public"
ZIP_NOTE = "The files for recipients:"
ZIP = "Download the archive"
KEEP_TITLE = "Internal use only"
KEEP_NOTE = (
    "Copy the public folder and the confidential one (its name ends with .internal) to this machine, for example to "
    "/data/release. Both are temporary now."
)
KEEP_LABEL = "Folder to create"
KEEP = "Copy to this folder"
KEPT = "Public: {public}. Internal use only: {internal}."
REPEAT_TITLE = "Repeat the run on the command line"
REPEAT_NOTE = "Save {files} in the folder of the data. This command then writes the same bytes:"
REPEAT_POLICY = "policy.toml"
REPEAT_TREE = "hierarchy.csv"
REPEAT_NAMES = "names.csv"
SIGN_TITLE = "Assessment"
SIGN_NOTE = "For the assessment, the internal report and the policy. Empty fields become lines to fill in by hand."
SIGN_ENVIRONMENT = "Environment: {words}. It was chosen on the step Overview, and the lights are compared with it."
SIGN_CONFIRM = "Confirm what is true"
SIGN_CONDITIONS = "Further conditions, one per line"
SIGN_OPEN = " {n} statements are not confirmed."
KEY_TITLE = "Signature"
KEY_NOTE = (
    "Optional. Sign the certificate with your OpenSSH key, for example ~/.ssh/id_ed25519, before you download the "
    "archive."
)
KEY_LABEL = OPTIONS["sign"]
KEY_SIGN = "Sign the certificate"
KEY_SIGNED = "Signed with the key {key}."
KEY_DONE = "The certificate is signed."
SIGNATURE_FILE = "certificate.sig"
SIGN = "Add to the report"
SIGNED = "Added to the report of run {number}."
ABOUT = {"title": "Data set", "purpose": "Purpose", "responsible": "Responsible", "date": "Date"}

# check
CHECK_DROP = "An archive or a folder"
DROP_RELEASE = "Drop release.zip or the release folder here"
CHOOSE_ARCHIVE = "Choose an archive"
CHOOSE_FOLDER = "Choose a folder"
DROP_RELEASE_NOTE = (
    "Up to {megabytes} MB. The files are read in a separate process with limits on time and memory. They stay on this "
    "machine."
)
FOLDER_NAME = "folder"
FOLDER_TOO_MANY = "There are {n:,} files; a release folder has at most {most}. Choose one release folder."
FOLDER_ODD = "“{name}” is not a file of a release folder. Choose the folder that contains certificate.json."
CHECK_FOLDER = "A folder, by its path"
CHECK_PATH = "Path of the release folder"
CHECK = "Check it"
CHECK_FILE = "A file of any software"
CHECK_FILE_HOW = (
    "A file without a certificate states no guarantee. Open it as data, choose the guarantee on the step Protect, and "
    "check here whether the file meets it."
)
CHECK_FILE_ASK = "Does {name}, as it is, meet this guarantee?"
CHECK_FILE_START = "Check this file"
CHECK_ANOTHER = "Check another release"
CHECK_ORIGINAL = "It was made from {name}: compare it with this original"
ANSWERS = {
    "yes": "{name}: verified",
    "no": "{name}: not verified",
    "unknown": "{name}: cannot be verified",
}
ANSWER_GUESSABLE = "{name}: verified, but an attacker can guess who has a sensitive item"
ANSWER_EMPTY = "{name}: verified, but without utility"
UNCHECKED = "Cannot be verified here: {line}"
PUBLISHER = "Stated by the publisher, not verified: made by setveil {version} with {algorithm}."
