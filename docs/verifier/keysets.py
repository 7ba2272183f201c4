"""Key sets (section "Key sets"): a set by itself, and the succession from a pinned one."""
from .shapes import array, check, hex96, instant, milliseconds, one_of, record, refined, site_name, tenant, whole
from .signatures import JWS, counting, decode, public_key, sha384, verify_jws
from .strict_json import Fault, parse_canonical

THRESHOLD = whole(1, 16)

def distinct(rows, name): return len({row[name] for row in rows}) == len(rows)

KEY_SET = refined(record({
    'v': one_of(1.0), 'type': one_of('platform.keyset'), 'site': site_name, 'tenant_id': tenant,
    'version': whole(1, 99_999_999), 'previous': hex96, 'created': instant,
    'thresholds': record({'message': THRESHOLD, 'root': THRESHOLD}),
    'keys': array(public_key('message', 'root'), 1, 64)}),
    lambda found: distinct(found['keys'], 'kid') and distinct(found['keys'], 'fingerprint'))
KEYS_DATA = record({'keyset': JWS, 'before': array(JWS, 0, 256)}, optional=('before',))
KEY_SET_FILE = record({'v': one_of(1.0), 'type': one_of('platform.keyset-file'), 'sets': array(JWS, 1, 256)})

def refused(code, detail): return Fault('REFUSED', detail, code)

def read_set(jws):
    payload = decode(jws['payload'])
    try:
        found = parse_canonical(payload or b'')
        check(KEY_SET, found, 'the key set')
    except Fault as fault:
        raise refused('invalid', fault.detail) from None
    return found, sha384(payload)

def usable(keys, use, at):
    return [key for key in counting(keys, at) if key['use'] == use and key['status'] == 'active']

def mark_revoked(keys, revoked):
    return [{**key, 'status': 'revoked'} if key['fingerprint'] in revoked else key for key in keys]

def list_revoked(keys): return {key['fingerprint'] for key in keys if key['status'] == 'revoked'}

def is_signed(jws, keys, threshold, at):
    able = usable(mark_revoked(keys, list_revoked(keys)), 'root', at)
    try:
        _, signers = verify_jws('keyset', jws, able)
    except Fault:
        return False
    return len(signers) >= threshold

def check_set(found, jws, revoked=frozenset()):
    """A set by itself: enough keys can sign at its time, and enough of its own root keys have signed it."""
    for use in ('message', 'root'):
        if len(usable(found['keys'], use, found['created'])) < found['thresholds'][use]:
            raise refused('invalid', f'too few {use} keys can sign')
    if not is_signed(jws, mark_revoked(found['keys'], revoked), found['thresholds']['root'], found['created']):
        raise refused('signature_invalid', 'too few of its own root keys have signed it')

class Pinned:
    """What a receiver has pinned. Version 0: keys that people confirmed one by one."""
    def __init__(self, site, tenant_id, keys, root_threshold, version, digest, created=None, revoked=frozenset()):
        self.site, self.tenant_id, self.keys, self.root_threshold = site, tenant_id, keys, root_threshold
        self.version, self.digest, self.created, self.revoked = version, digest, created, revoked

def pin(found, digest, revoked=frozenset()):
    keys = mark_revoked(found['keys'], revoked)
    return Pinned(found['site'], found['tenant_id'], keys, found['thresholds']['root'], found['version'], digest,
                  found['created'], frozenset(revoked) | list_revoked(keys))

def follow(pinned, jws):
    """What is pinned after one more set."""
    found, digest = read_set(jws)
    version = found['version']
    if (found['site'], found['tenant_id']) != (pinned.site, pinned.tenant_id): raise refused('signature_invalid', 'another site')
    if version < pinned.version or (version == pinned.version and digest == pinned.digest): return pinned
    if version > pinned.version + 1: raise refused('invalid', 'versions in between are missing')
    if not is_signed(jws, pinned.keys, pinned.root_threshold, found['created']):
        raise refused('signature_invalid', 'too few pinned root keys have signed it')
    if version == pinned.version or found['previous'] != pinned.digest:
        raise refused('already_exists', 'it contradicts the pinned history')
    check_set(found, jws, pinned.revoked)
    if pinned.created is not None and milliseconds(found['created']) < milliseconds(pinned.created):
        raise refused('invalid', 'dated earlier than its predecessor')
    return pin(found, digest, pinned.revoked)

class KnownKeys:
    """A sender whose keys are known without the version of their set."""
    def __init__(self, site, tenant_id, keys, root_threshold):
        self.site, self.tenant_id, self.keys, self.root_threshold = site, tenant_id, keys, root_threshold

def known_keys(statement, trust):
    return KnownKeys(statement['src'], statement['sender_tenant_id'], trust.keys, trust.root_threshold)

def verify_chain(sender, chain):
    """Oldest first. Known keys vouch for the sets from the first that they signed; those before it lead to it by digest."""
    if isinstance(sender, Pinned):
        for jws in chain: sender = follow(sender, jws)
        return
    earlier = last = None
    for index, jws in enumerate(chain):
        found, digest = read_set(jws)
        if earlier and (found['version'], found['previous']) != (earlier[0] + 1, earlier[1]):
            raise refused('invalid', 'a set does not follow the one before it')
        pinned = Pinned(sender.site, sender.tenant_id, sender.keys, sender.root_threshold, found['version'] - 1,
                        found['previous'], None, list_revoked(sender.keys))
        try:
            return verify_chain(pinned, chain[index:])
        except Fault as fault:
            last = fault
        earlier = (found['version'], digest)
    raise last

def verify_key_set_file(value):
    """The newest set of the file, signed by its own root keys, as people compare it by its fingerprints."""
    check(KEY_SET_FILE, value, 'the key set file')
    newest = value['sets'][-1]
    found, digest = read_set(newest)
    check_set(found, newest)
    return found, digest
