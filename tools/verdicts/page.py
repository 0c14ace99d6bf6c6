"""The table of a page of evidence, which stands between two marks."""

MARKS = ("<!-- table -->\n", "<!-- end -->")


def read(page):
    """What is before the table, the table, and what is after it."""
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0], 1)
    table, after = rest.split(MARKS[1], 1)
    return before, table, after


def write(page, before, lines, after):
    """Puts these lines in the place of the table."""
    with open(page, "w", encoding="utf-8") as file:
        file.write(before + MARKS[0] + "\n".join([*lines, ""]) + MARKS[1] + after)


def replace(page, lines):
    """Puts these lines in the place of a page's table."""
    before, _, after = read(page)
    write(page, before, lines, after)
