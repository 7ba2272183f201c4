"""Verifies file-drop envelopes (inventories too) and courier manifests with the sender's public keys alone.
usage: python3 verify_filedrop.py KEYS.json FILE...    KEYS.json: `platform keys export --json`; bodies are beside FILE
Needs the package `cryptography` (47 or newer for ML-DSA-87). Exit code 0: all verified; 5: one failed, with its reason."""
import base64, hashlib, json, os, pathlib, sys
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, utils

def b64(text):
    raw = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
    assert base64.urlsafe_b64encode(raw).rstrip(b'=').decode() == text, 'base64url has one spelling'
    return raw
def unique(pairs):
    assert len(dict(pairs)) == len(pairs), 'duplicate key in one object'
    return dict(pairs)
def strict(raw): return json.loads(raw.decode('utf-8'), object_pairs_hook=unique)
def sha384(raw): return hashlib.sha384(raw).hexdigest()
def read(path): return pathlib.Path(path).read_bytes()

def check(key, signature, signed):  # raises InvalidSignature
    if key['alg'] == 'Ed25519': return ed25519.Ed25519PublicKey.from_public_bytes(b64(key['x'])).verify(signature, signed)
    if key['alg'] == 'ML-DSA-87': return mldsa.MLDSA87PublicKey.from_public_bytes(b64(key['pub'])).verify(signature, signed)
    assert key['alg'] == 'ES384' and len(signature) == 96, 'unknown algorithm of the key'
    x, y, r, s = (int.from_bytes(part, 'big') for part in (b64(key['x']), b64(key['y']), signature[:48], signature[48:]))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP384R1()).public_key()
    public.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA384()))

def open_jws(path, kind, keys):  # the signed bytes, and the signers
    jws, signers = strict(read(path)), set()
    for each in jws['signatures']:
        header = strict(b64(each['protected']))
        assert set(header) == {'alg', 'kid', 'typ'} and header['typ'] == f'platform-{kind}+jws', 'signed for another purpose'
        if header['kid'] not in keys: continue  # a key that is not pinned does not count
        assert header['alg'] == keys[header['kid']]['alg'], 'the pinned key has another algorithm'
        check(keys[header['kid']], b64(each['signature']), f"{each['protected']}.{jws['payload']}".encode())
        signers.add(header['kid'])
    assert signers, 'no signature of a pinned key'
    return b64(jws['payload']), f"digest {sha384(b64(jws['payload']))}, signed by {', '.join(sorted(signers))}"

def verify(path, keys):
    raw, proof = open_jws(path, 'manifest' if path.endswith('MANIFEST.json') else 'statement', keys)
    folder, signed = os.path.dirname(path), strict(raw)
    for file in signed.get('files', []):
        found = read(os.path.join(folder, os.path.basename(file['name'])))
        assert (len(found), sha384(found)) == (file['bytes'], file['sha384']), f"{file['name']} is not the listed file"
    if 'files' in signed: return f"manifest of {len(signed['files'])} files from {signed['src']}, {proof}"
    body = read(path.replace('.env.json', '.body.json'))
    assert os.path.basename(path) == f"{signed['epoch']:08}-{signed['seq']:016}.env.json", 'the file name has another number'
    assert (len(body), sha384(body)) == (signed['body']['length'], signed['body']['sha384']), 'the body is not the signed one'
    message = strict(body)
    assert message['label'] == signed['label'] and message['schema'] == signed['body']['schema'], 'label or schema of the body differs'
    if signed['kind'] == 'inventory':  # each statement has the previous digest, so the last one covers all
        of, last = (message['data']['epoch'], message['data']['highest']), (message['data']['digests'] or ['0' * 96])[-1]
        assert of == (signed['epoch'], signed['seq'] - 1) and signed['prev'] == message['data']['rolling'] == last, 'the inventory contradicts itself'
    return f"{signed['kind']} {signed['epoch']}/{signed['seq']} of {signed['src']}, {proof}"

keys, bad = {key['kid']: key for key in strict(read(sys.argv[1]))['keys'] if key['platform_use'] == 'message'}, 0
for path in sys.argv[2:]:
    try: print(f'{path}: {verify(path, keys)}')
    except Exception as error: bad = 5; print(f'{path}: DOES NOT HOLD: {str(error) or type(error).__name__}')
sys.exit(bad)
