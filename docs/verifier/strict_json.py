"""Strict JSON (section "Strict JSON") and canonical JSON (RFC 8785). Numbers are doubles, as in ECMAScript."""
import re

class Fault(Exception):
    """A document that does not hold: the class of the reason, and words for people."""
    def __init__(self, reason, detail='', code=None):
        super().__init__(detail)
        self.reason, self.detail, self.code = reason, detail, code

SPACE = re.compile(r'[ \t\n\r]*')
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
NUMBER = re.compile(r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')
WORDS = {'t': ('true', True), 'f': ('false', False), 'n': ('null', None)}
ESCAPES = {'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

NO_LIMIT = float('inf')

def parse_json(raw, max_depth, max_values=NO_LIMIT, max_names=NO_LIMIT, max_escapes=NO_LIMIT):
    """The value of strict JSON. Raises Fault BAD_JSON, DUP_KEY, TOO_LARGE, or INCOMPLETE where only the end is missing."""
    try:
        text = raw if isinstance(raw, str) else raw.decode('utf-8')
    except UnicodeDecodeError as error:
        is_cut = error.end == len(raw) and error.reason == 'unexpected end of data'
        if not is_cut: raise Fault('BAD_JSON', 'not UTF-8') from None
        parse_json(raw[:error.start], max_depth, max_values, max_names, max_escapes)  # raises INCOMPLETE, or the fault before the cut character
        raise Fault('BAD_JSON', 'not UTF-8') from None
    reader = Reader(text, max_depth, max_values, max_names, max_escapes)
    value = reader.value(0)
    if reader.space() != len(text): raise Fault('BAD_JSON', 'something follows the value')
    return value

class Reader:
    def __init__(self, text, max_depth, max_values, max_names, max_escapes):
        self.text, self.at, self.max_depth, self.max_values = text, 0, max_depth, max_values
        self.max_names, self.max_escapes = max_names, max_escapes
        self.values, self.escapes, self.names = 0, 0, set()

    def space(self):
        self.at = SPACE.match(self.text, self.at).end()
        return self.at

    def peek(self):
        """The next character; at the end of the text it is incomplete."""
        if self.at == len(self.text): raise Fault('INCOMPLETE', 'the text does not end')
        return self.text[self.at]

    def bad(self, detail):
        raise Fault('BAD_JSON', detail)

    def value(self, depth):
        self.space()
        first = self.peek()
        self.values += 1
        if self.values > self.max_values: raise Fault('TOO_LARGE', f'more than {self.max_values} values')
        if first in '{[':
            if depth == self.max_depth: self.bad(f'nested deeper than {self.max_depth} levels')
            self.at += 1
            return self.object(depth + 1) if first == '{' else self.array(depth + 1)
        if first == '"': return self.string()
        if first in WORDS: return self.word(*WORDS[first])
        return self.number()

    def object(self, depth):
        found = {}
        self.space()
        if self.peek() == '}':
            self.at += 1
            return found
        while True:
            self.space()
            if self.peek() != '"': self.bad('a key is missing')
            key = self.string()
            if key == '__proto__': self.bad('a key that no object may have')
            if key in found: raise Fault('DUP_KEY', 'an object has a key twice')
            self.names.add(key)
            if len(self.names) > self.max_names: raise Fault('TOO_LARGE', f'more than {self.max_names} names of members')
            self.space()
            if self.peek() != ':': self.bad('a colon is missing')
            self.at += 1
            found[key] = self.value(depth)
            if self.ends('}'): return found

    def array(self, depth):
        found = []
        self.space()
        if self.peek() == ']':
            self.at += 1
            return found
        while True:
            found.append(self.value(depth))
            if self.ends(']'): return found

    def ends(self, end):
        self.space()
        char = self.peek()
        if char not in (end, ','): self.bad('a comma or an end is missing')
        self.at += 1
        return char == end

    def string(self):
        self.at += 1
        parts = []
        while True:
            match = PLAIN.match(self.text, self.at)
            parts.append(match.group())
            self.at = match.end()
            char = self.peek()
            if char < ' ': self.bad('a control character in a string')
            self.at += 1
            if char == '"': return ''.join(parts)
            parts.append(self.escape())
            self.escapes += 1
            if self.escapes > self.max_escapes: raise Fault('TOO_LARGE', f'more than {self.max_escapes} escapes')

    def escape(self):
        char = self.peek()
        self.at += 1
        if char in ESCAPES: return ESCAPES[char]
        if char != 'u': self.bad('an unknown escape')
        unit = self.hex()
        if not 0xd800 <= unit <= 0xdfff: return chr(unit)
        if unit > 0xdbff: self.bad('half a surrogate pair')
        for wanted in '\\u':
            if self.peek() != wanted: self.bad('half a surrogate pair')
            self.at += 1
        second = self.hex()
        if not 0xdc00 <= second <= 0xdfff: self.bad('half a surrogate pair')
        return chr(0x10000 + ((unit - 0xd800) << 10) + second - 0xdc00)

    def hex(self):
        digits = ''
        for _ in range(4):
            char = self.peek()
            if char not in '0123456789abcdefABCDEF': self.bad('an escape that is not a character')
            digits += char
            self.at += 1
        return int(digits, 16)

    def word(self, word, value):
        for wanted in word:
            if self.peek() != wanted: self.bad('an unknown word')
            self.at += 1
        return value

    def number(self):
        match = NUMBER.match(self.text, self.at)
        if not match: return self.unfinished('-')
        self.at = match.end()
        rest = self.text[self.at:self.at + 3]
        if re.fullmatch(r'\.|[eE][+-]?', rest) and self.at + len(rest) == len(self.text):
            raise Fault('INCOMPLETE', 'the text does not end')
        value = float(match.group())
        if value in (float('inf'), float('-inf')): self.bad('a number out of range')
        return value

    def unfinished(self, start):
        if self.text[self.at:] == start: raise Fault('INCOMPLETE', 'the text does not end')
        self.bad('neither a number nor another value')

def canonical(value):
    """RFC 8785: members by UTF-16 code units, no white space, numbers and strings as ECMAScript prints them."""
    if value is None: return 'null'
    if value is True: return 'true'
    if value is False: return 'false'
    if isinstance(value, str): return canonical_string(value)
    if isinstance(value, (int, float)): return canonical_number(float(value))
    if isinstance(value, list): return '[' + ','.join(map(canonical, value)) + ']'
    keys = sorted(value, key=lambda key: key.encode('utf-16-be'))
    return '{' + ','.join(f'{canonical_string(key)}:{canonical(value[key])}' for key in keys) + '}'

SHORT = {'"': '\\"', '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t'}

def canonical_string(text):
    escaped = re.sub(r'["\\\x00-\x1f]', lambda char: SHORT.get(char.group()) or f'\\u{ord(char.group()):04x}', text)
    return f'"{escaped}"'

def canonical_number(value):
    """Number::toString of ECMAScript, over the same shortest digits that Python finds."""
    if value == 0: return '0'
    mantissa, _, exponent = f'{abs(value)!r}'.partition('e')
    whole, _, fraction = mantissa.partition('.')
    fraction = '' if fraction == '0' else fraction
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip('0'))
    digits = digits.lstrip('0').rstrip('0')
    sign, count = '-' if value < 0 else '', len(digits)
    if count <= point <= 21: return sign + digits + '0' * (point - count)
    if 0 < point <= 21: return sign + digits[:point] + '.' + digits[point:]
    if -6 < point <= 0: return sign + '0.' + '0' * -point + digits
    tail = ('.' + digits[1:]) if count > 1 else ''
    return f'{sign}{digits[0]}{tail}e{"+" if point > 0 else "-"}{abs(point - 1)}'

def parse_canonical(raw, max_depth=128):
    """The value of bytes that are canonical JSON; Fault for any other bytes."""
    try:
        value = parse_json(raw, max_depth)
    except Fault:
        value = Fault
    if value is Fault or canonical(value).encode() != raw: raise Fault('SCHEMA', 'it is not canonical JSON')
    return value
