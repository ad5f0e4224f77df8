"""What people see of an alignment: blocks of words, figures, and pages."""
