"""The desk: sets of lines of a concordance, and the labels that people give to them.

They are in a SQLite file of their own beside the store (`desk`), never in the store or a snapshot. A set has
the lines that a query found when it was made (`line_sets`); labelers label them one by one or import a
spreadsheet (`labels`), and a report has shares and agreement (`agreement`). A line is identified by document,
sentence and position: `line_values` finds the lines that the store no longer has, or has with other words.
"""
