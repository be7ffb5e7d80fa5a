"""Small Excel workbooks, written part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from xml.sax.saxutils import escape

Cell = str | int | float | bool | date | None
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]], first_row: int = 1) -> bytes:
    """The bytes of a workbook; texts that occur twice are shared, others stand in their cells."""
    texts = [cell for rows in sheets.values() for row in rows for cell in row if isinstance(cell, str)]
    shared = sorted({text for text in texts if texts.count(text) > 1} | set(texts[:1]))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{OFFICE}.sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{RELS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{RELS}"><sheets>'
        + "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{RELS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        + f'<Relationship Id="s" Type="{RELS}/sharedStrings" Target="sharedStrings.xml"/>'
        + f'<Relationship Id="t" Type="{RELS}/styles" Target="styles.xml"/></Relationships>',
        "xl/sharedStrings.xml": f"<sst {MAIN}>"
        + "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in shared)
        + "</sst>",
        "xl/styles.xml": f'<styleSheet {MAIN}><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
        '</numFmts><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="164"/>'
        "</cellXfs></styleSheet>",
    }
    for number, rows in enumerate(sheets.values(), start=1):
        body = "".join(_row(n, row, shared) for n, row in enumerate(rows, start=first_row))
        parts[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet {MAIN}><sheetData>{body}</sheetData></worksheet>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return out.getvalue()


def _row(number: int, row: Sequence[Cell], shared: Sequence[str]) -> str:
    cells = "".join(_cell(f"{_letters(place)}{number}", cell, shared) for place, cell in enumerate(row))
    return f'<row r="{number}">{cells}</row>' if cells else ""


def _cell(place: str, cell: Cell, shared: Sequence[str]) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        if cell in shared:
            return f'<c r="{place}" t="s"><v>{shared.index(cell)}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, datetime):
        days = (cell - datetime(1899, 12, 30)).total_seconds() / 86400
        return f'<c r="{place}" s="2"><v>{days!r}</v></c>'
    if isinstance(cell, date):
        return f'<c r="{place}" s="{1 + 2 * (cell.day % 2)}"><v>{(cell - date(1899, 12, 30)).days}</v></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _letters(place: int) -> str:
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)
