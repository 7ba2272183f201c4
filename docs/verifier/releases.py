"""Releases of quarantined messages: what one person signs with one key of their own."""
from .shapes import array, check, hex96, instant, label, one_of, record, text
from .signatures import decode, require_signers, verify_jws
from .strict_json import Fault, parse_canonical

WAIVERS = ('EXPIRED', 'FUTURE', 'LABEL_MISSING', 'LABEL_DENIED', 'QUOTA', 'POISON', 'FAST_FORWARD')
FIELDS = {'v': one_of(1.0), 'type': one_of('platform.release'), 'site': text(1, 64), 'item': text(1, 256),
          'digests': array(hex96, 1, 2), 'waiver': one_of(*WAIVERS), 'label': label, 'reason': text(1, 1000),
          'subject': text(1, 256), 'created': instant}
REQUEST = record({**FIELDS, 'step': one_of('request')}, optional=('label',))
APPROVAL = record({**FIELDS, 'step': one_of('approval'), 'request': hex96}, optional=('label',))

def refused(code, detail): return Fault('REFUSED', detail, code)

def verify_release(jws, trust):
    release = read_release(jws)
    if len(jws['signatures']) != 1: raise refused('signature_invalid', 'one person signs, with one key')
    try:
        _, signers = verify_jws('release', jws, trust.keys)
        require_signers([key for key in signers if key['status'] == 'active'], 1, release['created'])
    except Fault as fault:
        raise refused('signature_invalid', fault.detail) from None
    if len(release['digests']) != 2: raise refused('invalid', 'it does not name the digests of both files')
    may_have = release['waiver'] in ('LABEL_MISSING', 'LABEL_DENIED')
    if ('label' in release and not may_have) or ('label' not in release and release['waiver'] == 'LABEL_MISSING'):
        raise refused('invalid', 'a label where none belongs, or none where one does')
    return f"{release['step']} of {release['subject']} to release {release['item']}"

def read_release(jws):
    try:
        release = parse_canonical(decode(jws['payload']) or b'')
        check(APPROVAL if isinstance(release, dict) and release.get('step') == 'approval' else REQUEST, release, 'the release')
    except Fault as fault:
        raise refused('invalid', fault.detail) from None
    return release
