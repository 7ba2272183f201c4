"""Messages: name, envelope, statement and body, then what the messages that sites send themselves contain."""
import os, re, stat
from . import keysets
from .shapes import (SAFE, any_object, anything, array, check, complete, epoch_number, hex64, hex96, instant, label, one_of,
                     pattern, record, refined, site_name, tenant, text, whole)
from .signatures import JWS, read_json, read_jws, require_signers, sha384, verify_jws
from .strict_json import Fault, canonical

MAX_ENVELOPE, MAX_BODY, ACKNOWLEDGEMENT_BYTES = 65_536, 4 * 1_048_576, 8_192
BODY_LIMITS = {'max_values': 40_000, 'max_names': 1_000, 'max_escapes': 200_000}
KINDS = ('invitation', 'contribution', 'result', 'lens_emission', 'signal', 'resolution', 'dataset', 'keys', 'inventory', 'gap_receipt')
NAME = re.compile(r'([0-9]{8})-([0-9]{16})\.(env|body)\.json')

STATEMENT = record({
    'v': one_of(1.0), 'type': one_of('platform.message'), 'channel': text(1, 128), 'src': site_name, 'dst': site_name,
    'sender_tenant_id': tenant, 'receiver_tenant_id': tenant, 'epoch': epoch_number, 'seq': whole(1), 'prev': hex96,
    'msg_id': pattern('msg_[0-9a-f]{32}'), 'kind': one_of(*KINDS), 'created': instant, 'not_after': instant,
    'body': record({'sha384': hex96, 'length': whole(0), 'schema': text(1, 128)}), 'label': anything,
    'parent_block_ids': array(hex64, 0, 64), 'max_hops': whole(0, 16)}, optional=('label',))
BODY = record({'label': label, 'schema': text(1, 128), 'data': any_object})

class Trust:
    """What is known of the sender: its keys, how many must sign, and its key set where one is pinned."""
    def __init__(self, keys, threshold=1, root_threshold=1, key_set=None):
        self.keys, self.threshold, self.root_threshold, self.key_set = keys, threshold, root_threshold, key_set

def join_trust(known, more):
    """The keys of both, and the higher threshold: several files may hold the keys of one site."""
    return Trust(known.keys + more.keys, max(known.threshold, more.threshold)) if known else Trust(more.keys, more.threshold)

def read_file(path, most):
    """The bytes of a regular file with one name. Raises TRUNCATED, NOT_REGULAR, HARDLINK, TOO_LARGE."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise Fault('TRUNCATED', 'one of the two files is missing') from None
    if not stat.S_ISREG(found.st_mode): raise Fault('NOT_REGULAR', 'not a regular file')
    if found.st_nlink != 1: raise Fault('HARDLINK', 'more than one name leads to it')
    if found.st_size > most: return None
    with open(path, 'rb') as file: return file.read()

def parse_name(name):
    match = NAME.fullmatch(name)
    epoch, seq = (int(match[1]), int(match[2])) if match else (0, 0)
    return (epoch, seq) if epoch >= 1 and 1 <= seq <= SAFE else None

def verify_message(path, trust):
    """Words about a message that holds: every check that does not depend on the receiving site."""
    folder, name = os.path.split(path)
    if name.endswith('.body.json'): name = name[:-len('.body.json')] + '.env.json'
    number = parse_name(name)
    if number is None: raise Fault('NAME', 'the file name is not that of a message')
    envelope = read_file(os.path.join(folder, name), MAX_ENVELOPE)
    body = read_file(os.path.join(folder, name.replace('.env.', '.body.')), MAX_BODY)
    if envelope is None or body is None: raise Fault('TOO_LARGE', 'above the cap of its kind')
    statement, digest, signers = verify_statement(envelope, number, trust)
    check_sender(statement, trust)
    data = verify_body(body, statement)
    CONTENT.get(statement['kind'], lambda *_: None)(statement, data, body, trust)
    kids = ', '.join(sorted(key['kid'] for key in signers))
    return f"{statement['kind']} {number[0]}/{number[1]} of {statement['src']}, digest {digest}, signed by {kids}"

def verify_statement(envelope, number, trust):
    jws = read_jws(envelope, 'the envelope', 'TRUNCATED')
    payload, signers = verify_jws('statement', jws, trust.keys)
    require_signers(signers, trust.threshold)
    statement = read_statement(payload)
    if (statement['epoch'], statement['seq']) != number: raise Fault('NAME', 'the file name has another number')
    return statement, sha384(payload), require_signers(signers, trust.threshold, statement['created'])

def check_sender(statement, trust):
    """The channel is that of the two sites, a key set that of the sender, and number 1 follows no message."""
    if statement['channel'] != f"filedrop/{statement['src']}/{statement['dst']}": raise Fault('WRONG_CHANNEL', 'another channel')
    owner = trust.key_set
    if owner and (owner.site, owner.tenant_id) != (statement['src'], statement['sender_tenant_id']):
        raise Fault('WRONG_CHANNEL', 'the key set is of another site')
    if statement['seq'] == 1 and statement['prev'] != '0' * 96: raise Fault('CHAIN_BREAK', 'nothing is before number 1')

def require_owner(content, trust):
    if trust.key_set and trust.key_set.site != content['src']: raise refused('invalid', 'the key set is of another site')

def read_statement(payload):
    statement = read_json(payload, 'the statement')
    if not isinstance(statement, dict) or statement.get('v') is True or statement.get('v') != 1:
        raise Fault('TYPE', 'another version of the statement')
    if statement.get('type') != 'platform.message' or statement.get('kind') not in KINDS: raise Fault('TYPE', 'another kind')
    check(STATEMENT, statement, 'the statement')
    return statement

def verify_body(body, statement):
    signed = statement['body']
    if (len(body), sha384(body)) != (signed['length'], signed['sha384']): raise Fault('BODY_DIGEST', 'not the signed body')
    content = read_json(body, 'the body', **BODY_LIMITS)
    if isinstance(content, list) or isinstance(content, dict) and content.get('label') is None:
        raise Fault('LABEL_MISSING', 'the body does not repeat the label')
    check(BODY, content, 'the body')
    try:
        check(label, statement.get('label'), 'the label')
    except Fault:
        raise Fault('LABEL_MISSING', 'the statement has no label that can be read') from None
    if canonical(complete(content['label'])) != canonical(complete(statement['label'])):
        raise Fault('LABEL_DENIED', 'the label of the body is not that of the statement')
    if content['schema'] != signed['schema']: raise Fault('SCHEMA', 'the body names another schema')
    data = content['data']
    if statement['kind'] == 'keys' and 'epoch' in data and statement['seq'] != 1:
        raise Fault('SCHEMA', 'an epoch is announced by its first message alone')
    return data

CHECKPOINT_HEAD = {'writer': text(1, 256), 'seq': whole(0), 'hash': hex64, 'at': instant}
CHECKPOINT = record({**CHECKPOINT_HEAD, 'signature': JWS})
INVENTORY = record({'epoch': whole(1), 'highest': whole(0), 'rolling': hex96, 'digests': array(hex96, 0, 1_024),
                    'checkpoints': array(CHECKPOINT, 0, 32)})

def verify_inventory(statement, data, _body, trust):
    if statement['body']['schema'] != 'platform.inventory/1': raise Fault('SCHEMA', 'another schema of inventories')
    check(INVENTORY, data, 'the inventory')
    last = data['digests'][-1] if data['digests'] else data['rolling']
    is_own = (data['epoch'], data['highest']) == (statement['epoch'], statement['seq'] - 1)
    if not is_own or len(data['digests']) > data['highest'] or not statement['prev'] == data['rolling'] == last:
        raise Fault('SCHEMA', 'it does not list the messages before it')
    for head in data['checkpoints']: verify_checkpoint(head, statement['src'], trust)

def verify_checkpoint(checkpoint, site, trust):
    """The signed head of a chain of this site: the signature is over exactly the canonical head."""
    head = {name: checkpoint[name] for name in CHECKPOINT_HEAD}
    if not head['writer'].endswith(f'@{site}'): raise Fault('SCHEMA', 'the chain is not one of the sender')
    payload, signers = verify_jws('checkpoint', checkpoint['signature'], trust.keys)
    require_signers(signers, trust.threshold, head['at'])
    if payload != canonical(head).encode(): raise Fault('BAD_SIG', 'the signature is over another head')

EPOCH = record({'v': one_of(1.0), 'type': one_of('platform.epoch'), 'channel': text(1, 128), 'src': site_name, 'dst': site_name,
                'epoch': epoch_number, 'reason': one_of('restored', 'compromised', 'other'), 'created': instant})

def verify_keys(statement, data, _body, trust):
    if statement['body']['schema'] != 'platform.keys/1': raise Fault('SCHEMA', 'another schema of keys')
    if 'epoch' in data: return verify_announcement(statement, data, trust)
    check(keysets.KEYS_DATA, data, 'the key sets')
    sender = trust.key_set or keysets.known_keys(statement, trust)
    keysets.verify_chain(sender, [*data.get('before', []), data['keyset']])

def verify_announcement(statement, data, trust):
    check(record({'epoch': JWS}), data, 'the announcement')
    payload, signers = verify_jws('epoch', data['epoch'], trust.keys)
    require_signers(signers, trust.root_threshold)
    try:
        epoch = read_json(payload, 'the announcement')
    except Fault:
        raise Fault('SCHEMA', 'the announcement is not JSON') from None
    check(EPOCH, epoch, 'the announcement')
    require_signers(signers, trust.root_threshold, epoch['created'])
    if epoch['dst'] != statement['dst']: raise Fault('WRONG_DST', 'an epoch to another site')
    if (epoch['channel'], epoch['src']) != (statement['channel'], statement['src']):
        raise Fault('WRONG_CHANNEL', 'another channel')
    if epoch['epoch'] != statement['epoch']: raise Fault('SCHEMA', 'another epoch')

def rises(receipt):
    before = receipt['floor']
    for run in receipt['missing']:
        if not before < run['first'] <= run['last']: return False
        before = run['last']
    return before <= receipt['highest']

GAP_RECEIPT = refined(record({
    'v': one_of(1.0), 'type': one_of('platform.gap_receipt'), 'channel': text(1, 128), 'src': site_name, 'dst': site_name,
    'epoch': epoch_number, 'highest': whole(0), 'floor': whole(0),
    'missing': array(record({'first': whole(1), 'last': whole(1)}), 0, 1_024), 'created': instant, 'not_after': instant}), rises)
ACKNOWLEDGEMENT = record({'receipt': JWS, 'padding': text()})

def verify_acknowledgement(statement, data, body, trust):
    try:
        if statement['body']['schema'] != 'platform.acknowledgement/1': raise Fault('SCHEMA', 'another schema')
        check(ACKNOWLEDGEMENT, data, 'the acknowledgement')
    except Fault as fault:
        raise refused('invalid', fault.detail) from None
    if len(body) % ACKNOWLEDGEMENT_BYTES or data['padding'].strip(' '): raise refused('invalid', 'not of the fixed size')
    verify_gap_receipt(data['receipt'], trust, statement['src'], statement['dst'])

def refused(code, detail): return Fault('REFUSED', detail, code)

def verify_gap_receipt(jws, trust, src=None, dst=None):
    """A receipt of `src` about the channel of `dst` to it; without names, of any site whose keys these are."""
    receipt = verify_note('gap-receipt', jws, GAP_RECEIPT, trust)
    is_own = (src is None or receipt['src'] == src) and (dst is None or receipt['dst'] == dst)
    if not is_own or receipt['channel'] != f"filedrop/{receipt['dst']}/{receipt['src']}":
        raise refused('invalid', 'the receipt is about another channel')
    require_owner(receipt, trust)
    return receipt

def verify_note(purpose, jws, shape, trust):
    """The content of a small signed document, by the message keys of its sender."""
    try:
        payload, signers = verify_jws(purpose, jws, trust.keys)
    except Fault as fault:
        raise refused('signature_invalid', fault.detail) from None
    try:
        content = read_json(payload, 'the content')
        check(shape, content, 'the content')
    except Fault as fault:
        raise refused('invalid', fault.detail) from None
    try:
        require_signers(signers, trust.threshold, content['created'])
    except Fault as fault:
        raise refused('signature_invalid', fault.detail) from None
    return content

FILE = record({'name': refined(text(), lambda name: parse_name(name) is not None), 'bytes': whole(0), 'sha384': hex96})
MANIFEST = refined(record({
    'v': one_of(1.0), 'type': one_of('platform.manifest'), 'src': site_name, 'dst': site_name, 'channel': text(1, 128),
    'created': instant, 'medium': pattern('[0-9a-f]{16}'), 'files': array(FILE, 1, 200)}),
    lambda manifest: len({file['name'] for file in manifest['files']}) == len(manifest['files']))
MAX_MANIFEST = 262_144

def verify_manifest(path, trust):
    """The manifest of a courier's folder, and every file that it lists."""
    raw = read_file(path, MAX_MANIFEST)
    if raw is None: raise Fault('TOO_LARGE', 'above the cap of a manifest')
    manifest = verify_note('manifest', read_jws(raw, 'the manifest'), MANIFEST, trust)
    if manifest['channel'] != f"filedrop/{manifest['src']}/{manifest['dst']}": raise refused('invalid', 'another channel')
    require_owner(manifest, trust)
    stems = [file['name'].split('.')[0] for file in manifest['files']]
    if any(stems.count(stem) != 2 for stem in stems): raise Fault('TRUNCATED', 'it lists half of a message')
    for file in manifest['files']:
        found = read_file(os.path.join(os.path.dirname(path), file['name']), MAX_ENVELOPE if '.env.' in file['name'] else MAX_BODY)
        if found is None or (len(found), sha384(found)) != (file['bytes'], file['sha384']):
            raise Fault('BODY_DIGEST', f"{file['name']} is not the listed file")
    return f"manifest of {len(manifest['files'])} files from {manifest['src']}"

CONTENT = {'inventory': verify_inventory, 'keys': verify_keys, 'gap_receipt': verify_acknowledgement}
