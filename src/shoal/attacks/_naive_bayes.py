"""Guessing a secret from the known columns one by one: what any reader of a table can learn without finding anybody."""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Floats, Rows
from shoal.attacks._class_view import compacted, covers
from shoal.data.table import Column, Table
from shoal.risks.learned_secrets import aligned

FOLDS = 5
"""A model of the original never sees the people whom it is asked about: a fifth of them at a time."""


def learned_from_release(published: Table, people: Table, secret: Column) -> Rows:
    """The guess for each of the people, as a code of the published secret.

    A published cell that stands for several values speaks for each of them with an equal share.
    """
    return np.asarray(
        _scores(published, people, secret, [column.name for column in published.quasi]).argmax(axis=1)
    )


def posterior(published: Table, people: Table, secret: Column, known: Sequence[str]) -> Floats:
    """How likely each secret is for each of the people, by each known column alone."""
    scores = _scores(published, people, secret, known)
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def _scores(published: Table, people: Table, secret: Column, names: Sequence[str]) -> Floats:
    values, people = len(secret.domain), compacted(people)
    prior = np.bincount(secret.codes, minlength=values).astype(np.float64)
    score = np.broadcast_to(np.log(prior + 1e-9), (people.rows, values)).copy()
    for column in published.select(names):
        known = people.column(column.name)
        pairs = np.bincount(
            column.codes * np.int64(values) + secret.codes, minlength=len(column.domain) * values
        )
        counts = pairs.reshape(len(column.domain), values).astype(np.float64)
        meant = covers(column, known)
        counts /= np.maximum(np.diff(meant.indptr), 1)[:, None]
        score += _logs(meant.turned_times(counts), prior)[known.codes]
    return score


def _logs(counts: Floats, prior: Floats) -> Floats:
    """The logarithm of the chance of each value under each secret, with one person spread over all values."""
    return np.asarray(np.log(counts + 1 / max(len(counts), 1)) - np.log(prior + 1))


def cross_fitted(table: Table, secret: Column, rows: Rows, seed: int) -> Rows:
    """The guess for some rows of a table by models that have not seen them."""
    folds = np.random.default_rng(seed).integers(FOLDS, size=table.rows)
    guess = np.zeros(len(rows), dtype=np.int64)
    for fold in range(FOLDS):
        asked = folds[rows] == fold
        guess[asked] = _fitted(table.quasi, secret, folds != fold, rows[asked])
    return guess


def _fitted(columns: Sequence[Column], secret: Column, seen: Rows, asked: Rows) -> Rows:
    values = len(secret.domain)
    codes: Codes = secret.codes[seen]
    prior = np.bincount(codes, minlength=values).astype(np.float64)
    score = np.broadcast_to(np.log(prior + 1e-9), (len(asked), values)).copy()
    for column in columns:
        pairs = np.bincount(
            column.codes[seen] * np.int64(values) + codes, minlength=len(column.domain) * values
        )
        logs = _logs(pairs.reshape(len(column.domain), values).astype(np.float64), prior)
        score += logs[column.codes[asked]]
    return np.asarray(score.argmax(axis=1))


def right(guess: Rows, people: Table, secret: Column) -> float:
    """The share of people whose secret was guessed, with guesses as codes of a published secret."""
    truth = aligned(people.column(secret.name), secret)
    return float((guess == truth).mean()) if len(guess) else 0.0
