"""JWS in the general serialisation, public keys, and which keys count."""
import base64, hashlib
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, utils
from .shapes import any_object, array, check, instant, milliseconds, one_of, pattern, record, refined, text
from .strict_json import Fault, canonical, parse_json

MESSAGE_DEPTH = 16
JWS = record({'payload': text(0, 65_536),
              'signatures': array(record({'protected': text(0, 2_048), 'signature': text(0, 8_192)}), 1, 16)})
HEADER = record({'alg': text(1, 32), 'kid': text(1, 128), 'typ': text(1, 64)})
USES = {'statement': 'message', 'evidence': 'message', 'checkpoint': 'message', 'audit-export': 'message', 'manifest': 'message',
        'gap-receipt': 'message', 'registry': 'message',
        'keyset': 'root', 'epoch': 'root', 'release': 'personal', 'contribution': 'personal'}

def sha256(raw): return hashlib.sha256(raw).hexdigest()
def sha384(raw): return hashlib.sha384(raw).hexdigest()

def decode(encoded):
    """base64url without padding, in its only spelling; None for any other text."""
    try:
        raw = base64.b64decode(encoded + '=' * (-len(encoded) % 4), altchars=b'-_', validate=True)
    except ValueError:
        return None
    return raw if base64.urlsafe_b64encode(raw).rstrip(b'=').decode() == encoded else None

def encode(raw): return base64.urlsafe_b64encode(raw).rstrip(b'=').decode()

# Public keys: exact members and lengths of a JWK, and the thumbprint of RFC 7638 over exactly these members.
MATERIAL = {'Ed25519': ({'kty': 'OKP', 'crv': 'Ed25519'}, {'x': 32}),
            'ES384': ({'kty': 'EC', 'crv': 'P-384'}, {'x': 48, 'y': 48}),
            'ML-DSA-87': ({'kty': 'AKP', 'alg': 'ML-DSA-87'}, {'pub': 2592})}
PRIVATE = ('d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv', 'seed')

def material(algorithm, jwk):
    """The members of the public key alone; None when the JWK is not a key of that algorithm."""
    fixed, encoded = MATERIAL[algorithm]
    if any(jwk.get(name) != value for name, value in fixed.items()): return None
    for name, length in encoded.items():
        if not isinstance(jwk.get(name), str) or len(decode(jwk[name]) or b'') != length: return None
    return {name: jwk[name] for name in (*fixed, *encoded)}

def thumbprint(jwk): return encode(hashlib.sha256(canonical(jwk).encode()).digest())

def is_exact_key(row):
    found = material(row['algorithm'], row['jwk'])
    return found is not None and len(found) == len(row['jwk']) and thumbprint(found) == row['fingerprint']

def public_key(*uses):
    """A row of a public key; the JWK is exactly the public key, and the fingerprint that of the key."""
    return refined(record({
        'kid': text(1, 128), 'algorithm': one_of(*MATERIAL), 'fingerprint': pattern('[A-Za-z0-9_-]{43}'),
        'use': one_of(*uses), 'status': one_of('active', 'retired', 'revoked'), 'created': instant, 'not_after': instant,
        'jwk': any_object}, optional=('not_after',)), is_exact_key)

ANY_USE = ('message', 'token', 'personal', 'root', 'authority')

JWKS_ROW = record({'kid': text(1, 128), 'alg': text(), 'platform_fingerprint': pattern('[A-Za-z0-9_-]{43}'),
                   'platform_use': one_of(*ANY_USE), 'platform_status': one_of('active', 'retired', 'revoked'),
                   'platform_created': instant, 'platform_not_after': instant},
                  optional=('platform_fingerprint', 'platform_not_after'), loose=True)
JWKS = record({'keys': array(JWKS_ROW, 1, 64)}, loose=True)

def import_jwks(value):
    """The keys of `platform keys export --json`, as rows of public keys."""
    check(JWKS, value, 'the key file')
    return [import_row(row) for row in value['keys']]

def import_row(row):
    if any(name in row for name in PRIVATE): raise Fault('SCHEMA', f'{row["kid"]} holds a private member')
    algorithm = next((each for each in MATERIAL if material(each, row)), None)
    if algorithm is None or row['alg'] != algorithm: raise Fault('SCHEMA', f'{row["kid"]} is not a key of its algorithm')
    jwk = material(algorithm, row)
    if row.get('platform_fingerprint', thumbprint(jwk)) != thumbprint(jwk): raise Fault('SCHEMA', 'a false fingerprint')
    return {'kid': row['kid'], 'algorithm': algorithm, 'fingerprint': thumbprint(jwk), 'use': row['platform_use'],
            'status': row['platform_status'], 'created': row['platform_created'], 'jwk': jwk,
            **({'not_after': row['platform_not_after']} if 'platform_not_after' in row else {})}

def holds(key, signature, signed):
    jwk = key['jwk']
    try:
        if key['algorithm'] == 'Ed25519':
            ed25519.Ed25519PublicKey.from_public_bytes(decode(jwk['x'])).verify(signature, signed)
        elif key['algorithm'] == 'ML-DSA-87':
            mldsa.MLDSA87PublicKey.from_public_bytes(decode(jwk['pub'])).verify(signature, signed)
        else:
            if len(signature) != 96: return False
            x, y, r, s = (int.from_bytes(part, 'big')
                          for part in (decode(jwk['x']), decode(jwk['y']), signature[:48], signature[48:]))
            public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP384R1()).public_key()
            public.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA384()))
        return True
    except (InvalidSignature, ValueError):
        return False

def verify_jws(purpose, jws, keys):
    """The signed bytes, and the keys that signed, each once. One signature that does not hold spoils all of them; one by a
    key that is not known only does not count. Raises BAD_SIG, UNKNOWN_KEY, KEY_REVOKED."""
    payload = decode(jws['payload'])
    if payload is None: raise Fault('BAD_SIG', 'the payload is not base64url')
    usable = [key for key in keys if key['use'] == USES[purpose]]
    revoked = {key['fingerprint'] for key in usable if key['status'] == 'revoked'}
    signers, verdict = {}, 'UNKNOWN_KEY'
    for each in jws['signatures']:
        header, signature = read_header(each['protected']), decode(each['signature'])
        if header is None or header['typ'] != f'platform-{purpose}+jws' or signature is None:
            raise Fault('BAD_SIG', 'a signature for another purpose')
        named = [key for key in usable if key['kid'] == header['kid']]
        if not named: continue
        able = [key for key in named if key['fingerprint'] not in revoked]
        if not able:
            verdict = 'KEY_REVOKED'
            continue
        signed = f'{each["protected"]}.{jws["payload"]}'.encode()
        signer = next((key for key in able if key['algorithm'] == header['alg'] and holds(key, signature, signed)), None)
        if signer is None: raise Fault('BAD_SIG', 'a signature does not hold')
        signers[signer['fingerprint']] = signer
    if not signers: raise Fault(verdict, 'no trusted key has signed it')
    return payload, list(signers.values())

def read_header(encoded):
    """Exactly alg, kid and typ, in any order and without white space; None for anything else."""
    raw = decode(encoded)
    try:
        header = parse_json(raw, 1) if raw else None
        check(HEADER, header, 'the header')
    except Fault:
        return None
    compact = '{' + ','.join(f'{canonical(name)}:{canonical(value)}' for name, value in header.items()) + '}'
    return header if compact.encode() == raw else None

def counting(signers, made):
    """The keys whose signature of a document of this time counts."""
    at = milliseconds(made)
    return [key for key in signers if ('not_after' not in key or at <= milliseconds(key['not_after']))
            and (key['use'] != 'root' or key['status'] == 'active')]

def require_signers(signers, threshold, made=None):
    counted = signers if made is None else counting(signers, made)
    if not counted: raise Fault('UNKNOWN_KEY', 'the keys had ended')
    if len({key['fingerprint'] for key in counted}) < threshold: raise Fault('THRESHOLD', 'too few keys signed')
    return counted

def read_jws(raw, what, cut='BAD_JSON'):
    """The JWS of a file; `cut` is the reason for a text without its end."""
    value = read_json(raw, what, cut)
    check(JWS, value, what, 'BAD_JSON')
    return value

def read_json(raw, what, cut='BAD_JSON', **limits):
    try:
        return parse_json(raw, MESSAGE_DEPTH, **limits)
    except Fault as fault:
        raise Fault(cut if fault.reason == 'INCOMPLETE' else fault.reason, f'{what}: {fault.detail}') from None
