"""Audit exports (section "Audit exports"): records in chains, and signed heads."""
from .messages import CHECKPOINT, verify_checkpoint
from .shapes import any_object, array, check, hex64, instant, label, one_of, record, site_name, text, whole
from .signatures import JWS, decode, require_signers, sha256, verify_jws
from .strict_json import Fault, canonical, parse_canonical, parse_json

EVENT = record({'at': instant, 'action': text(), 'outcome': one_of('done', 'refused'), 'tenant_id': text(), 'subject': text(),
                'actor': text(), 'target': text(), 'trace_id': text(), 'detail': any_object, 'label': label},
               optional=('actor', 'label'))
RECORD = record({'writer': text(), 'seq': whole(1), 'prev': text(), 'event_digest': text(), 'hash': text(), 'event': EVENT},
                optional=('event',))
DEPTH = 128

def read_export(raw):
    try:
        lines = raw.decode('utf-8').split('\n')
    except UnicodeDecodeError:
        raise Fault('BAD_JSON', 'not UTF-8') from None
    return [read_line(line) for line in lines if line.strip(' \t\r')]

def read_line(line):
    try:
        value = parse_json(line, DEPTH)
    except Fault as fault:
        raise Fault('BAD_JSON' if fault.reason == 'INCOMPLETE' else fault.reason, fault.detail) from None
    return value

def verify_record(found, seq, previous):
    """One record after the record `seq` with the hash `previous`."""
    check(RECORD, found, 'the record')
    if found['seq'] != seq + 1: raise Fault('CHAIN_BREAK', f"record {found['seq']:.0f} is missing or out of order")
    if found['prev'] != previous: raise Fault('CHAIN_BREAK', f"record {found['seq']:.0f} does not follow the one before it")
    if 'event' in found and sha256(canonical(found['event']).encode()) != found['event_digest']:
        raise Fault('BODY_DIGEST', f"record {found['seq']:.0f} has another event")
    sealed = canonical([found['writer'], found['seq'], found['prev'], found['event_digest']])
    if sha256(sealed.encode()) != found['hash']: raise Fault('BODY_DIGEST', f"record {found['seq']:.0f} has another hash")

RUN = record({'first': whole(1), 'last': whole(1)})
CHAIN = record({'writer': text(1, 256), 'first': whole(1), 'prev': hex64, 'last': whole(1), 'hash': hex64,
                'expired': array(RUN, 0, 1_024)})
STATEMENT = record({'v': one_of(1.0), 'type': one_of('platform.audit-export'), 'site': site_name, 'created': instant,
                    'since': instant, 'until': instant, 'chains': array(CHAIN, 0, 64)}, optional=('since', 'until'))
CHECKPOINT_LINE = record({**CHECKPOINT.members, 'type': one_of('platform.checkpoint'), 'v': one_of(1.0)})
END_LINE = record({'type': one_of('platform.audit-export'), 'v': one_of(1.0), 'signature': JWS})

def range_of(records):
    """What the site signs about one chain: its exact range, and the runs of records whose event has expired."""
    first, last, expired = records[0], records[-1], []
    for found in records:
        if 'event' in found: continue
        if expired and expired[-1]['last'] == found['seq'] - 1: expired[-1]['last'] = found['seq']
        else: expired.append({'first': found['seq'], 'last': found['seq']})
    return {'writer': first['writer'], 'first': first['seq'], 'prev': first['prev'], 'last': last['seq'], 'hash': last['hash'],
            'expired': expired}

def read_parts(raw):
    """The records by writer, the signed heads, and the signature of the last line."""
    chains, checkpoints, end = {}, [], None
    for value in read_export(raw):
        if end: raise Fault('SCHEMA', 'something follows the signed line')
        kind = value.get('type') if isinstance(value, dict) else None
        if kind == 'platform.checkpoint':
            check(CHECKPOINT_LINE, value, 'the checkpoint')
            checkpoints.append(value)
        elif kind == 'platform.audit-export':
            check(END_LINE, value, 'the signed line')
            end = value['signature']
        else:
            check(RECORD, value, 'the record')
            chains.setdefault(value['writer'], []).append(value)
    return chains, checkpoints, end

def verify_export(raw, trust):
    """Every record is exactly what the site signed, and none is missing from the range that it states."""
    chains, checkpoints, end = read_parts(raw)
    if not chains: raise Fault('CHAIN_BREAK', 'the export holds no record')
    for records in chains.values():
        seq, previous = records[0]['seq'] - 1, records[0]['prev']
        for found in records:
            verify_record(found, seq, previous)
            seq, previous = found['seq'], found['hash']
    if end is None: raise Fault('UNSIGNED', 'nothing shows that it is complete')
    payload, signers = verify_jws('audit-export', end, trust.keys)
    statement = parse_canonical(payload)
    check(STATEMENT, statement, 'the statement')
    require_signers(signers, trust.threshold, statement['created'])
    if trust.key_set and trust.key_set.site != statement['site']: raise Fault('UNKNOWN_KEY', 'the keys are of another site')
    for writer in chains:
        if not writer.endswith(f"@{statement['site']}"): raise Fault('SCHEMA', 'the chain is of another site')
    signed = {chain['writer']: chain for chain in statement['chains']}
    found = {writer: range_of(records) for writer, records in chains.items()}
    if signed != found: raise Fault('CHAIN_BREAK', 'the records are not exactly those that the site signed')
    for head in checkpoints:
        body = {name: head[name] for name in CHECKPOINT.members}
        verify_checkpoint(body, statement['site'], trust)
        if head['writer'] not in chains: raise Fault('CHAIN_BREAK', 'a checkpoint of a chain that is not in the export')
        for each in chains[head['writer']]:
            if each['seq'] == head['seq'] and each['hash'] != head['hash']:
                raise Fault('CHAIN_BREAK', 'a checkpoint does not match')
    return ', '.join(f"{writer}: records {chain['first']:.0f} to {chain['last']:.0f}" for writer, chain in found.items())
