"""Generate English titles, posts and comments from templates."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    name: str
    things: tuple[str, ...]
    deeds: tuple[str, ...]
    place: str


SUBJECTS = (
    Subject(
        "bread",
        ("sourdough starter", "rye loaf", "proofing basket", "stone oven", "crust", "crumb", "bag of flour"),
        ("knead the dough", "feed the starter", "wait for the second rise", "score the loaf", "weigh the salt"),
        "in the kitchen",
    ),
    Subject(
        "gardening",
        ("tomato bed", "compost heap", "seed tray", "greenhouse", "apple tree", "watering can", "row of beans"),
        ("turn the compost", "prune the roses", "thin the seedlings", "water before sunrise", "mulch the beds"),
        "in the garden",
    ),
    Subject(
        "cycling",
        ("steel frame", "mountain pass", "headwind", "spare tube", "gravel road", "rear wheel", "saddlebag"),
        ("climb in the small gear", "true the wheel", "oil the chain", "ride until dusk", "pack light"),
        "on the road",
    ),
    Subject(
        "programming",
        ("unit test", "legacy module", "partition key", "cache", "deadlock", "query plan", "build script", "log line"),
        ("measure before changing anything", "delete the dead code", "name things well", "read the stack trace"),
        "in the codebase",
    ),
    Subject(
        "photography",
        ("wide lens", "long exposure", "roll of film", "tripod", "morning light", "contact sheet", "darkroom"),
        ("wait for the light", "meter for the shadows", "frame a little wider", "develop the film"),
        "in the old town",
    ),
    Subject(
        "hiking",
        ("ridge path", "mountain hut", "map", "river crossing", "pair of boots", "summit", "thermos"),
        ("start before dawn", "follow the cairns", "turn back in time", "dry the socks", "sleep at the hut"),
        "in the hills",
    ),
    Subject(
        "music",
        ("minor chord", "second violin", "practice room", "metronome", "old recording", "bass line", "song book"),
        ("play the scale slowly", "tune by ear", "count the rests", "learn the tune by heart"),
        "in the rehearsal room",
    ),
    Subject(
        "astronomy",
        ("small telescope", "double star", "moonless night", "star chart", "eyepiece", "meteor shower"),
        ("let the eyes adapt", "find the pole star", "sketch the crater", "align the finder"),
        "on the roof",
    ),
    Subject(
        "woodworking",
        ("dovetail", "hand plane", "oak board", "workbench", "glue line", "sharp chisel", "drawer front"),
        ("sharpen first", "cut on the waste side", "plane with the grain", "let the glue cure"),
        "in the workshop",
    ),
    Subject(
        "reading",
        ("long novel", "library card", "margin note", "first chapter", "short story", "translation", "reading chair"),
        ("read aloud", "start the book again", "keep a list", "put the phone away", "skip the preface"),
        "in the library",
    ),
)

_ADJECTIVES = (
    "small",
    "stubborn",
    "quiet",
    "honest",
    "unexpected",
    "patient",
    "borrowed",
    "forgotten",
    "ordinary",
    "careful",
    "reliable",
    "imperfect",
    "slow",
    "curious",
)
_SEASONS = ("spring", "summer", "autumn", "winter")
_SPANS = ("a week", "ten days", "one long weekend", "three months", "half a year", "a whole winter", "twelve evenings")
_NUMBERS = ("Three", "Four", "Five", "Six", "Seven")

_TITLES = (
    "Notes on {name}",
    "{Span} with a {adjective} {thing}",
    "What the {thing} taught me",
    "{number} things I got wrong about {name}",
    "In praise of the {adjective} {thing}",
    "How to {deed}",
    "A {adjective} {thing}, and why it matters",
    "Why I still {deed}",
    "{name} in {season}",
    "On {name}, again",
    "Before you buy a {thing}",
    "The {thing} problem",
)
_OPENINGS = (
    "It started with a {thing} that nobody wanted.",
    "For {span} I have done little else than {deed}.",
    "People ask me about {name} more often than about anything else.",
    "I did not set out to write about the {thing}.",
    "Last {season} I came back to {name} after a long break.",
    "There is a {adjective} {thing} {place}, and I owe it an apology.",
)
_SENTENCES = (
    "The first lesson was to {deed}, and the second was to do it again.",
    "A {thing} is never as {adjective} as it looks.",
    "My neighbor says one should always {deed}; I used to disagree.",
    "{place}, a {adjective} {thing} is worth more than three new ones.",
    "It took {span} before I could {deed} without thinking about it.",
    "Nobody tells you how {adjective} a {thing} can be.",
    "If there is a rule, it is this: {deed}, then look again.",
    "I kept notes, and most of them are about the {thing}.",
    "By {season} the {thing} had become part of the day.",
    "There are two kinds of people {place}: those who {deed}, and those who will.",
    "What surprised me was how little the {thing} had to do with it.",
    "You can read about {name} for years and still not {deed}.",
    "The {thing} was my mistake, and a {adjective} one at that.",
    "On good days I {deed} before breakfast.",
    "Somebody had left a {thing} {place}, with a {adjective} note beside it.",
    "Three times I have given up on the {thing}, and three times I have come back.",
    "It is easy to {deed} once; the art is in doing it in {season}.",
    "The old hands {place} have a saying about the {thing}, which I will not repeat here.",
    "Whoever gave me my first {thing} knew what would happen.",
    "I would trade all of it for one {adjective} {thing}.",
    "Some days the only plan is to {deed} and see what comes.",
)
_CLOSINGS = (
    "Next time I will {deed} first.",
    "That is all I know about the {thing}, and it is enough for {season}.",
    "If you {deed}, tell me how it went.",
    "The {thing} stays. The rest can wait until {season}.",
    "More on {name} soon.",
    "Ask me again in {span}.",
)
_REMARKS = (
    "I never thought of the {thing} that way. Thank you.",
    "This is the best thing I have read on {name} in {span}.",
    "Well put. I would only add: {deed}.",
    "I tried to {deed} last {season} and gave up. Perhaps I should start again.",
    "The part about the {thing} made me laugh.",
    "Not sure I agree about the {thing}, but I see your point.",
    "How long did it take until you could {deed}?",
    "Same here, in a {adjective} sort of way.",
    "My {thing} has the same problem. Did you find out why?",
    "Could you write more about {name} in {season}?",
    "Saved for {season}.",
    "Exactly this.",
    "I read this {place}, which seemed right.",
    "A {adjective} post. More of these, please.",
)

_PARAGRAPHS = (1, 4)
_SENTENCES_PER_PARAGRAPH = (2, 5)


class Prose:
    def __init__(self, rng: random.Random, subject: Subject) -> None:
        self._rng = rng
        self._subject = subject

    def title(self) -> str:
        return self._fill(self._rng.choice(_TITLES))

    def post(self) -> str:
        """Return paragraphs without repeated sentences."""
        patterns = iter(self._rng.sample(_SENTENCES, len(_SENTENCES)))
        paragraphs = [
            [self._fill(next(patterns)) for _ in range(self._rng.randint(*_SENTENCES_PER_PARAGRAPH))]
            for _ in range(self._rng.randint(*_PARAGRAPHS))
        ]
        paragraphs[0].insert(0, self._fill(self._rng.choice(_OPENINGS)))
        paragraphs[-1].append(self._fill(self._rng.choice(_CLOSINGS)))
        return "\n\n".join(" ".join(sentences) for sentences in paragraphs)

    def remark(self) -> str:
        return self._fill(self._rng.choice(_REMARKS))

    def _fill(self, pattern: str) -> str:
        choose, subject = self._rng.choice, self._subject
        span = choose(_SPANS)
        text = pattern.format(
            name=subject.name,
            thing=choose(subject.things),
            deed=choose(subject.deeds),
            place=subject.place,
            adjective=choose(_ADJECTIVES),
            season=choose(_SEASONS),
            span=span,
            Span=_capitalised(span),
            number=choose(_NUMBERS),
        )
        return _capitalised(_with_articles(text))


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


def _with_articles(text: str) -> str:
    """Replace `a` with `an` before the sound of a vowel."""
    words = text.split(" ")
    for index, word in enumerate(words[:-1]):
        if word in ("a", "A") and words[index + 1].startswith((*"aeiou", "honest")):
            words[index] = word + "n"
    return " ".join(words)
