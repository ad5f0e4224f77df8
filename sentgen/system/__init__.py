"""What depends on the operating system, a function a need; nothing else asks which system this is.

On Linux the standard library and ``/proc`` answer; elsewhere psutil does, which is imported at first need.
What locks files works with descriptors: packages for locks make and remove files of their own.
"""
