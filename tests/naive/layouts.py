"""Input files of every layout, written plainly."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

Records = list[list[str]]

TEXT_LAYOUTS = ("basket", "long", "wide", "onehot", "table", "jsonl", "json", "gmt", "arff")
LAYOUTS = (*TEXT_LAYOUTS, "fimi", "spmf", "parquet")


def can_hold(layout: str, records: Records) -> bool:
    """Whether the layout can hold such labels."""
    labels = {label for row in records for label in row}
    if layout in ("fimi", "spmf"):
        return all(label.isascii() and label.isdigit() for label in labels)
    if layout in ("gmt", "arff"):
        return not any(sign in label for label in labels for sign in "\t\r\n\"\\{},%'") and all(map(_is_inner, labels))
    return True


def _is_inner(label: str) -> bool:
    return label == label.strip() and "\x1c" not in label and "\x85" not in label and "\u2028" not in label


def write_layout(
    layout: str, records: Records, path: Path, delimiter: str = ",", packed: bool = False
) -> dict[str, Any]:
    """Write the records; the options that read them as they are."""
    options: dict[str, Any] = {"format": layout, "labels_as_they_are": True}
    labels = sorted({label for row in records for label in row})
    if layout in ("fimi", "spmf"):
        end = " -2" if layout == "spmf" else ""
        sep = " -1 " if layout == "spmf" else " "
        text = "".join(sep.join(row) + end + "\n" for row in records)
    elif layout == "jsonl":
        text = "".join(json.dumps({"items": row}) + "\n" for row in records)
    elif layout == "json":
        text = json.dumps(records)
    elif layout == "gmt":
        text = "".join("\t".join([f"set{n}", "about", *row]) + "\n" for n, row in enumerate(records))
    elif layout == "arff":
        head = "".join(f"@attribute 'i{n}' {{'{label}'}}\n" for n, label in enumerate(labels))
        rows = (",".join(f"'{label}'" if label in row else "?" for label in labels) for row in records)
        text = "@relation r\n" + head + "@data\n" + "".join(row + "\n" for row in rows)
    elif layout == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"items": pa.array(records, pa.list_(pa.string()))}), path)
        return options
    else:
        text = _table(layout, records, labels, delimiter)
        options |= {"delimiter": delimiter}
        if layout == "long":
            options |= {"id_column": "who", "item_column": "what"}
    content = text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    return options


def _table(layout: str, records: Records, labels: list[str], delimiter: str) -> str:
    target = io.StringIO()
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
    if layout == "basket":
        for row in records:
            writer.writerow(row) if row else target.write("\n")
    elif layout == "long":
        writer.writerow(["who", "what"])
        for number, row in enumerate(records):
            writer.writerows([number, label] for label in row or [""])
    elif layout == "wide":
        width = max(map(len, records)) + 2
        writer.writerow([f"dx{n}" for n in range(1, width + 1)])
        writer.writerows([*row, *[""] * (width - len(row))] for row in records)
    elif layout == "onehot":
        writer.writerow(["who", *labels])
        writer.writerows([f"p{n}", *(int(label in row) for label in labels)] for n, row in enumerate(records))
    else:
        writer.writerow(["who", *(f"c{n}" for n in range(len(labels)))])
        writer.writerows(
            [f"p{n}", *(label if label in row else "none" for label in labels)] for n, row in enumerate(records)
        )
    return target.getvalue()
