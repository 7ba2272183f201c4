"""Snapshots of registries (section "Registry snapshots"): lines, and the signed manifest of exactly these bytes."""
from .shapes import (any_object, anything, array, boolean, check, instant, label, number, one_of, pattern, record,
                     required_text, site_name, tenant, text, whole)
from .signatures import JWS, require_signers, sha256, verify_jws
from .strict_json import Fault, parse_json

DEPTH, MAX_LINE, MAX_LABELS = 128, 4_194_304, 4_096
LENS_NAME, VERSION = pattern('[a-z][a-z0-9-]{0,63}'), pattern(r'[0-9]+\.[0-9]+\.[0-9]+')
MANIFEST = record({
    'v': one_of(1.0), 'type': one_of('platform.registry'), 'from': site_name, 'tenant_id': tenant, 'to': site_name,
    'lens': LENS_NAME, 'lens_version': VERSION, 'entity_type': required_text(256), 'label': label, 'version': whole(1),
    'made_at': instant, 'records': whole(0), 'entities': whole(0), 'bytes': whole(0), 'sha256': pattern('[0-9a-f]{64}'),
    'text_form': whole(1, 1_000)}, optional=('text_form',))
TRAILER = record({'form': one_of('registry-snapshot/1'), 'signed': JWS})
INDEX, UID = whole(0, MAX_LABELS - 1), text(1, 128)
WEIGHTS = record({'prior': number(), 'cut': number(), 'floor': number(), 'highest': number(), 'fields': array(record({
    'name': required_text(256), 'outcomes': array(number()), 'has_frequencies': boolean}))})
LINES = {
    'label': record({'kind': anything, 'label': label}),
    'lens': record({'kind': anything, 'label': INDEX, 'body': any_object, 'run_id': UID, 'route': one_of('clusters', 'links'),
                    'weights': WEIGHTS}, optional=('route',)),
    'record': record({'kind': anything, 'label': INDEX, 'ref': record({'node_id': required_text(256), 'record_id': required_text(4_096)}),
                      'values': any_object, 'entity': UID})}

def verify_snapshot(raw, trust):
    """The manifest holds by the keys of `from`, and the lines before it are exactly those that it states."""
    start = raw.rfind(b'\n', 0, len(raw) - 1) + 1
    if not raw.endswith(b'\n') or len(raw) - start > MAX_LINE: raise Fault('TRUNCATED', 'its end is missing')
    trailer = read(raw[start:-1])
    check(TRAILER, trailer, 'the last line')
    payload, signers = verify_jws('registry', trailer['signed'], trust.keys)
    manifest = read(payload)
    check(MANIFEST, manifest, 'the manifest')
    require_signers(signers, trust.threshold, manifest['made_at'])
    owner = trust.key_set
    if owner and (owner.site, owner.tenant_id) != (manifest['from'], manifest['tenant_id']):
        raise Fault('WRONG_CHANNEL', 'the key set is of another site')
    if (start, sha256(raw[:start])) != (manifest['bytes'], manifest['sha256']): raise Fault('BODY_DIGEST', 'other lines')
    verify_lines(raw[:start].split(b'\n')[:-1], manifest)
    return f"registry {manifest['lens']} of {manifest['from']} for {manifest['to']}: {manifest['records']:.0f} records"

def read(raw):
    try:
        return parse_json(raw, DEPTH)
    except Fault as fault:
        raise Fault('BAD_JSON' if fault.reason == 'INCOMPLETE' else fault.reason, fault.detail) from None

def verify_lines(lines, manifest):
    labels, fields, records, entities = 0, None, set(), set()
    for raw in lines:
        if len(raw) > MAX_LINE: raise Fault('TOO_LARGE', 'a line')
        line = read(raw)
        kind = line.get('kind') if isinstance(line, dict) else None
        if not isinstance(kind, str) or kind not in LINES: raise Fault('SCHEMA', 'an unknown line')
        check(LINES[kind], line, 'the line')
        if kind == 'label':
            labels += 1
            continue
        if line['label'] >= labels: raise Fault('SCHEMA', 'a label that is not defined before')
        if kind == 'lens': fields = read_lens(line, manifest, fields)
        else: take_record(line, fields, records, entities)
    if fields is None or (len(records), len(entities)) != (manifest['records'], manifest['entities']):
        raise Fault('SCHEMA', 'another number of records')

def read_lens(line, manifest, known):
    body = line['body']
    stated = tuple(body.get(name) for name in ('lens', 'version', 'entity_type'))
    if known is not None or stated != (manifest['lens'], manifest['lens_version'], manifest['entity_type']):
        raise Fault('SCHEMA', 'another lens')
    fields = {each['name'] for each in body['fields']}
    if not {each['name'] for each in line['weights']['fields']} <= fields: raise Fault('SCHEMA', 'weights of other fields')
    return fields

def take_record(line, fields, records, entities):
    key = (line['ref']['node_id'], line['ref']['record_id'])
    values = line['values']
    if fields is None or not set(values) <= fields or not all(isinstance(each, str) for each in values.values()):
        raise Fault('SCHEMA', 'a record before its lens, or of other fields')
    if key in records: raise Fault('SCHEMA', 'a record twice')
    records.add(key)
    entities.add(line['entity'])
