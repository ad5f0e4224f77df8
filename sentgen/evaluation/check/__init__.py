"""Verb arguments: which of a summary does its source support?"""
