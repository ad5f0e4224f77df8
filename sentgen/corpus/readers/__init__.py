"""One reader a format: a stream of lines in, sentences or rejections out."""
