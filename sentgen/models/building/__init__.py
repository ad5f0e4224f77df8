"""Building a model: what is counted, in which sentences, and how what is made of it is written."""
