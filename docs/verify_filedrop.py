"""Verifies signed documents with public keys alone: messages of every kind, courier manifests, key sets, gap receipts,
releases, evidence blocks, audit exports, checkpoints and registry snapshots. Needs the package `cryptography` (47 or newer for ML-DSA-87).

usage: python3 verify_filedrop.py [--threshold N] [--root-threshold N] KEYS FILE...

KEYS   `platform keys export --json`, or a key set file, whose thresholds then count; for evidence also further keys by name:
       alpha.json,bravo=bravo.json,ann=ann.json
FILE   an envelope or body (the other half beside it), MANIFEST.json, or any other document named above

One line for each FILE: `FILE: holds: ...`, or `FILE: DOES NOT HOLD: REASON: ...`. Exit code 0: all hold; 5: one does not.
--lines reads requests {"path", "keys", "threshold"?, "root_threshold"?} from the standard input, one a line, and answers each with
{"holds", "reason"?, "code"?, "detail"}."""
import argparse, json, os, sys
from verifier import audit, evidence, keysets, messages, registry, releases
from verifier.shapes import check, record, text
from verifier.signatures import import_jwks, read_header, read_jws
from verifier.strict_json import Fault, parse_json

MAX_KEYS, MAX_DOCUMENT, DEPTH = 4 * 1_048_576, 64 * 1_048_576, 128

def read_keys(words):
    """The trust in the sender, and the keys of others by name, from `[NAME=]FILE,...`."""
    own, directory = None, {}
    for word in words.split(','):
        name, is_named, path = word.partition('=')
        if not is_named or '/' in name: name, path = None, word
        trust = read_trust(path)
        owner = trust.key_set.site if trust.key_set else None
        if name and owner and name != owner: raise Fault('SCHEMA', f'the key set given as that of {name} is of {owner}')
        if name is None: own = trust
        name = owner or name
        if name: directory[name] = messages.join_trust(directory.get(name), trust)
    return own or messages.Trust([]), directory

def read_trust(path):
    value = parse_json(read(path, MAX_KEYS), DEPTH)
    if not isinstance(value, dict) or value.get('type') != 'platform.keyset-file': return messages.Trust(import_jwks(value))
    found, digest = keysets.verify_key_set_file(value)
    thresholds = found['thresholds']
    return messages.Trust(found['keys'], int(thresholds['message']), int(thresholds['root']), keysets.pin(found, digest))

def read(path, most=MAX_DOCUMENT):
    raw = messages.read_file(path, most)
    if raw is None: raise Fault('TOO_LARGE', f'more than {most} bytes')
    return raw

def verify(path, trust, directory):
    """Words about a document that holds. Raises Fault."""
    name = os.path.basename(path)
    if name.endswith(('.env.json', '.body.json')): return messages.verify_message(path, trust)
    if name == 'MANIFEST.json': return messages.verify_manifest(path, trust)
    raw = read(path)
    if name.endswith('.jsonl'): return audit.verify_export(raw, trust)
    if name.endswith('.snapshot'): return registry.verify_snapshot(raw, trust)
    unnamed = [] if trust.key_set else trust.keys
    if name.endswith('.evidence.json'): return evidence.verify_evidence(raw, directory, unnamed)
    value = parse(raw)
    if isinstance(value, dict) and 'block_id' in value: return evidence.verify_evidence(raw, directory, unnamed)
    if isinstance(value, dict) and value.get('type') == 'platform.keyset-file': return verify_set(value)
    if isinstance(value, dict) and 'writer' in value: return verify_checkpoint(value, trust)
    return verify_note(raw, trust)

def parse(raw):
    try:
        return parse_json(raw, DEPTH)
    except Fault as fault:
        raise Fault('BAD_JSON' if fault.reason == 'INCOMPLETE' else fault.reason, fault.detail) from None

def verify_set(value):
    """The newest set by itself: its own root keys vouch for it."""
    found, digest = keysets.verify_key_set_file(value)
    return f"key set {found['version']:.0f} of {found['site']}, digest {digest}"

def verify_checkpoint(value, trust):
    check(record({**messages.CHECKPOINT.members, 'id': text()}, optional=('id',)), value, 'the checkpoint')
    messages.verify_checkpoint(value, value['writer'].rpartition('@')[2], trust)
    return f"checkpoint of {value['writer']} at record {value['seq']:.0f}"

def verify_note(raw, trust):
    jws = read_jws(raw, 'the document')
    header = read_header(jws['signatures'][0]['protected'])
    if header and header['typ'] == 'platform-release+jws': return releases.verify_release(jws, trust)
    receipt = messages.verify_gap_receipt(jws, trust)
    return f"gap receipt of {receipt['src']} about {receipt['channel']}"

def answer(path, trust, directory):
    try:
        return {'holds': True, 'detail': verify(path, trust, directory)}
    except Fault as fault:
        return {'holds': False, 'reason': fault.reason, 'detail': fault.detail, **({'code': fault.code} if fault.code else {})}

def answer_lines():
    """Keys are read once: a request names them by their file."""
    known = {}
    for line in sys.stdin:
        request = json.loads(line)
        words = request['keys']
        if words not in known: known[words] = read_keys(words)
        trust, directory = known[words]
        trust = messages.Trust(trust.keys, request.get('threshold', trust.threshold),
                               request.get('root_threshold', trust.root_threshold), trust.key_set)
        print(json.dumps(answer(request['path'], trust, directory)), flush=True)

def main():
    if sys.argv[1:] == ['--lines']: return answer_lines()
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--threshold', type=int)
    parser.add_argument('--root-threshold', type=int)
    parser.add_argument('keys')
    parser.add_argument('files', nargs='+')
    given = parser.parse_args()
    try:
        trust, directory = read_keys(given.keys)
    except Fault as fault:
        sys.exit(f'{given.keys}: {fault.reason}: {fault.detail}')
    trust = messages.Trust(trust.keys, given.threshold or trust.threshold, given.root_threshold or trust.root_threshold, trust.key_set)
    bad = 0
    for path in given.files:
        found = answer(path, trust, directory)
        if found['holds']: print(f"{path}: holds: {found['detail']}")
        else: bad, _ = 5, print(f"{path}: DOES NOT HOLD: {found['reason']}: {found['detail']}")
    sys.exit(bad)

if __name__ == '__main__': main()
