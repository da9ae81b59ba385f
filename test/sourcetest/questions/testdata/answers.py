"""Writes questions.json: a hundred questions of shop.json, each with the answer that plain Python finds.

    python3 answers.py
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True

import asked
import sales, people, catalogue, tracker, stream, corners  # each asks its questions

asked.write(Path(__file__).with_name("questions.json"))
print(len(asked.QUESTIONS), "questions")
