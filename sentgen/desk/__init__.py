"""The desk: sets of lines of a concordance, and the labels that people give to them.

They live in a SQLite file of their own beside the store (`desk`), never in it or in a snapshot. A set has the
lines that a query found when it was made (`line_sets`); each labeler labels them, or a spreadsheet with
labels comes back (`labels`), and what comes of it is reported (`agreement`). A line is known by document,
sentence and place: `line_values` tells what is gone from the store since, or changed.
"""
