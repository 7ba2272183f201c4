"""Verifies file-drop envelopes (inventories too) and courier manifests with nothing but the sender's public keys.
usage: python3 verify_filedrop.py KEYS.json FILE...    KEYS.json: `platform keys export --json`; bodies lie beside FILE
Needs the package `cryptography` (47 or newer for ML-DSA-87). Exit code 0: all hold; 5: one does not, with its reason."""
import base64, hashlib, json, os, pathlib, sys
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, utils

def b64(text):
    raw = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
    assert base64.urlsafe_b64encode(raw).rstrip(b'=').decode() == text, 'base64url has one spelling'
    return raw
def once(pairs):
    assert len(dict(pairs)) == len(pairs), 'a key stands twice in one object'
    return dict(pairs)
def strict(raw): return json.loads(raw.decode('utf-8'), object_pairs_hook=once)
def sha384(raw): return hashlib.sha384(raw).hexdigest()
def read(path): return pathlib.Path(path).read_bytes()

def check(key, signature, signed):  # raises InvalidSignature
    if key['alg'] == 'Ed25519': return ed25519.Ed25519PublicKey.from_public_bytes(b64(key['x'])).verify(signature, signed)
    if key['alg'] == 'ML-DSA-87': return mldsa.MLDSA87PublicKey.from_public_bytes(b64(key['pub'])).verify(signature, signed)
    assert key['alg'] == 'ES384' and len(signature) == 96, 'the key is of no known algorithm'
    x, y, r, s = (int.from_bytes(part, 'big') for part in (b64(key['x']), b64(key['y']), signature[:48], signature[48:]))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP384R1()).public_key()
    public.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA384()))

def opened(path, kind, keys):  # the signed bytes, and who signed them
    jws, signers = strict(read(path)), set()
    for each in jws['signatures']:
        header = strict(b64(each['protected']))
        assert set(header) == {'alg', 'kid', 'typ'} and header['typ'] == f'platform-{kind}+jws', 'signed for something else'
        if header['kid'] not in keys: continue  # a key that is not pinned does not count
        assert header['alg'] == keys[header['kid']]['alg'], 'the pinned key has another algorithm'
        check(keys[header['kid']], b64(each['signature']), f"{each['protected']}.{jws['payload']}".encode())
        signers.add(header['kid'])
    assert signers, 'no pinned key signed it'
    return b64(jws['payload']), f"digest {sha384(b64(jws['payload']))}, signed by {', '.join(sorted(signers))}"

def verified(path, keys):
    raw, proof = opened(path, 'manifest' if path.endswith('MANIFEST.json') else 'statement', keys)
    folder, said = os.path.dirname(path), strict(raw)
    for file in said.get('files', []):
        found = read(os.path.join(folder, os.path.basename(file['name'])))
        assert (len(found), sha384(found)) == (file['bytes'], file['sha384']), f"{file['name']} is not the file listed"
    if 'files' in said: return f"manifest of {len(said['files'])} files from {said['src']}, {proof}"
    body = read(path.replace('.env.json', '.body.json'))
    assert os.path.basename(path) == f"{said['epoch']:08}-{said['seq']:016}.env.json", 'the file bears another number'
    assert (len(body), sha384(body)) == (said['body']['length'], said['body']['sha384']), 'not the body that was signed for'
    told = strict(body)
    assert told['label'] == said['label'] and told['schema'] == said['body']['schema'], 'the body says otherwise'
    if said['kind'] == 'inventory':  # each statement names the digest before it, so the last one rolls over them all
        of, last = (told['data']['epoch'], told['data']['highest']), (told['data']['digests'] or ['0' * 96])[-1]
        assert of == (said['epoch'], said['seq'] - 1) and said['prev'] == told['data']['rolling'] == last, 'no true inventory'
    return f"{said['kind']} {said['epoch']}/{said['seq']} of {said['src']}, {proof}"

keys, bad = {key['kid']: key for key in strict(read(sys.argv[1]))['keys'] if key['platform_use'] == 'message'}, 0
for path in sys.argv[2:]:
    try: print(f'{path}: {verified(path, keys)}')
    except Exception as error: bad = 5; print(f'{path}: DOES NOT HOLD: {str(error) or type(error).__name__}')
sys.exit(bad)
