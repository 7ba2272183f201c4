"""Releases of quarantined messages: what one person signs with their own key."""
from .shapes import array, check, hex96, instant, label, one_of, record, text
from .signatures import require_signers, verify_jws
from .strict_json import parse_canonical

WAIVERS = ('EXPIRED', 'FUTURE', 'LABEL_MISSING', 'LABEL_DENIED', 'QUOTA', 'POISON', 'FAST_FORWARD')
FIELDS = {'v': one_of(1.0), 'type': one_of('platform.release'), 'site': text(1, 64), 'item': text(1, 256),
          'digests': array(hex96, 1, 2), 'waiver': one_of(*WAIVERS), 'label': label, 'reason': text(1, 1000),
          'subject': text(1, 256), 'created': instant}
REQUEST = record({**FIELDS, 'step': one_of('request')}, optional=('label',))
APPROVAL = record({**FIELDS, 'step': one_of('approval'), 'request': hex96}, optional=('label',))

def verify_release(jws, trust):
    payload, signers = verify_jws('release', jws, trust.keys)
    release = parse_canonical(payload)
    check(APPROVAL if isinstance(release, dict) and release.get('step') == 'approval' else REQUEST, release, 'the release')
    require_signers(signers, 1, release['created'])
    return f"{release['step']} of {release['subject']} to release {release['item']}"
