"""Shapes of documents: each returns nothing, or notes what differs. Members are exact: an unknown one is a fault."""
import re
from .strict_json import Fault

class Findings(list):
    """Pairs of what differs ('unknown' member or 'shape') and the path to it."""

def check(shape, value, what, otherwise='SCHEMA'):
    """Raises UNKNOWN_FIELD where a member is unknown, else `otherwise`."""
    found = Findings()
    shape(value, (), found)
    if any(kind == 'unknown' for kind, _ in found): raise Fault('UNKNOWN_FIELD', f'{what} has an unknown member')
    if found: raise Fault(otherwise, f'{what} has the wrong shape at {".".join(map(str, found[0][1]))}')

def note(found, path): found.append(('shape', path))

def record(members, optional=(), loose=False):
    """An object with exactly these members; those in `optional` may be absent, none may be null."""
    def shape(value, path, found):
        if not isinstance(value, dict): return note(found, path)
        for name, of in members.items():
            if name in value: of(value[name], path + (name,), found)
            elif name not in optional: note(found, path + (name,))
        if not loose and any(name not in members for name in value): found.append(('unknown', path))
    shape.members, shape.optional = members, optional
    return shape

def array(of, low=0, high=None):
    def shape(value, path, found):
        if not isinstance(value, list): return note(found, path)
        if len(value) < low or (high is not None and len(value) > high): note(found, path)
        for index, each in enumerate(value): of(each, path + (index,), found)
    return shape

def units(text): return len(text.encode('utf-16-le')) // 2

def text(low=0, high=None):
    """Lengths count UTF-16 code units."""
    def shape(value, path, found):
        if not isinstance(value, str) or units(value) < low or (high is not None and units(value) > high): note(found, path)
    return shape

# White space of ECMAScript: that of Python has other members.
BLANKS = frozenset('\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f'
                   '\u205f\u3000\ufeff')

def required_text(high):
    """A text that is not blank."""
    return refined(text(1, high), lambda value: not BLANKS.issuperset(value))

def boolean(value, path, found):
    if not isinstance(value, bool): note(found, path)

def pattern(source):
    compiled = re.compile(source)
    def shape(value, path, found):
        if not isinstance(value, str) or not compiled.fullmatch(value): note(found, path)
    return shape

def one_of(*allowed):
    def shape(value, path, found):
        if isinstance(value, bool) or not any(type(value) is type(each) and value == each for each in allowed): note(found, path)
    return shape

SAFE = 2 ** 53 - 1

def whole(low, high=SAFE):
    def shape(value, path, found):
        if not isinstance(value, float) or not value.is_integer() or not low <= value <= high: note(found, path)
    return shape

def number(low=None, high=None, above=None):
    def shape(value, path, found):
        ok = isinstance(value, float) and (low is None or value >= low) and (high is None or value <= high)
        if not ok or (above is not None and value <= above): note(found, path)
    return shape

def anything(value, path, found): return None

def any_object(value, path, found):
    if not isinstance(value, dict): note(found, path)

def nullable(of):
    return lambda value, path, found: None if value is None else of(value, path, found)

def refined(of, test):
    """`test` holds for every value of the shape; it is made only where nothing differs."""
    def shape(value, path, found):
        inner = Findings()
        of(value, path, inner)
        found.extend(inner)
        if not inner and not test(value): note(found, path)
    return shape

DATE = (r'(?:(?:[0-9]{2}(?:[2468][048]|[13579][26]|0[48])|(?:[02468][048]|[13579][26])00)-02-29|[0-9]{4}-(?:(?:0[13578]|1[02])'
        r'-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])))')
CLOCK = r'T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?'
instant = pattern(DATE + CLOCK + 'Z')
instant_with_offset = pattern(DATE + CLOCK + r'(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])')

def milliseconds(at):
    """Milliseconds since 1970 of a time in UTC; digits beyond the third are cut off."""
    days, clock = at[:-1].split('T')
    year, month, day = map(int, days.split('-'))
    hours, minutes, seconds = clock.split(':')
    whole_seconds, _, fraction = seconds.partition('.')
    # Days of the Gregorian calendar, with the year beginning in March: also for the year 0, which datetime does not know.
    shifted, months = (year - 1, month + 9) if month < 3 else (year, month - 3)
    day_number = 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + (153 * months + 2) // 5 + day - 719_469
    seconds_in_all = (day_number * 24 + int(hours)) * 3600 + int(minutes) * 60 + int(whole_seconds)
    return seconds_in_all * 1000 + int((fraction + '000')[:3])

hex64, hex96 = pattern('[0-9a-f]{64}'), pattern('[0-9a-f]{96}')
site_name = pattern('[a-z0-9][a-z0-9-]{0,62}')
tenant = text(1, 128)
epoch_number = whole(1, 99_999_999)
term = text(1, 64)
LABEL = {'categories': array(term, 0, 32), 'created': instant_with_offset, 'level': term, 'originator': term,
         'policy': term, 'releasable_to': array(term, 0, 64)}
label = record(LABEL, optional=('categories', 'created', 'releasable_to'))
stated_label = record(LABEL, optional=('created', 'releasable_to'))

def complete(of):
    """A label without `categories` has none."""
    return {'categories': [], **of}
