"""Releases as files, in folders that appear whole or not at all.

- ``files`` writes a release and reads it back; ``canonical`` decides every byte, ``names`` what items are called
- ``tables`` has the codebook and other small tables, ``columns`` and ``people`` releases with columns or groups,
  ``count_tables`` tables of counts, ``frames`` the same for notebooks
- ``folders`` makes both folders appear at once (``marks``: whose a partial one is); ``addresses`` uploads
- ``expansion`` bounds what Parquet files unpack to
"""
