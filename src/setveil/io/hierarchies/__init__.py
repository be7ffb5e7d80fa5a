"""Hierarchies from files and back.

- ``hierarchy_files`` reads any file: ``tables``, ``nodes``, ``outlines`` or ``amnesia`` understand it, ``columns``
  takes columns of a table, ``text`` gives the text. All fill a ``Draft`` (``drafts``), which lists what is wrong
- ``objects`` has dicts and frames, ``values`` and ``bands`` columns of people, ``systems/`` code systems such as ICD
- ``sources`` says what ``--hierarchy`` means, ``codes`` what to advise; ``names`` has names of codes
- ``writing`` is the way back
"""
