"""An example of a plug-in of sentgen: a reader, an algorithm and an aligner."""
