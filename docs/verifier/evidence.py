"""Evidence blocks (docs/consensus.md, section "Evidence block"), versions 1 to 3."""
from . import combination
from .messages import BODY, Trust, read_statement
from .shapes import (array, check, complete, hex64, instant, instant_with_offset, label, nullable, number, one_of,
                     pattern, record, refined, required_text, stated_label, text, whole)
from .signatures import ANY_USE, JWS, decode, encode, public_key, require_signers, sha256, sha384, verify_jws
from .strict_json import Fault, canonical, parse_json

short, fraction, decision = required_text(256), number(0, 1), one_of('match', 'non_match')
DEPTH = 128
METHODS = ('weighted_average', 'dempster_shafer')

def is_policy(policy):
    named = policy.get('contributors')
    return policy['m'] <= policy['n'] and (named is None or len(named) == len(set(named)) == policy['n'])

POLICY = refined(record({
    'm': whole(1, 1000), 'n': whole(1, 1000), 'combination_method': one_of(*METHODS),
    'ratify_threshold': number(high=1, above=0.5), 'conflict_threshold': number(high=1, above=0), 'contributors': array(text(1, 256), 1, 1000), 'deadline': instant_with_offset},
    optional=('contributors', 'deadline')), is_policy)
SUBJECT = record({'kind': short, 'left': short, 'right': short, 'correlation_id': short}, optional=('correlation_id',))
RESULT = record({'method': one_of(*METHODS), 'score': nullable(fraction), 'conflict': fraction, 'total_weight': number(0),
                 'belief': nullable(fraction), 'plausibility': nullable(fraction), 'K': fraction,
                 'reason': one_of('total_conflict', 'no_weight')}, optional=('belief', 'plausibility', 'K', 'reason'))
ATTESTATION = record({'id': short, 'by': short, 'decision': decision, 'rationale': required_text(4096), 'at': instant})
QUOTED = {'contributor_id': short, 'pair_score': fraction, 'accuracy': fraction, 'credibility': fraction, 'signer_key_id': short,
          'classification': stated_label, 'digest': hex64, 'msg_id': short}
COUNTED = {'contributions': whole(0), 'chain': text()}
FIELDS = {'type': one_of('platform.evidence'), 'site': short, 'tenant_id': short, 'session_id': short, 'lens_id': short,
          'lens_version': short, 'subject': SUBJECT, 'policy': POLICY, 'label': stated_label, 'result': RESULT,
          'decision': decision, 'attestation': ATTESTATION, 'parent_block_ids': array(hex64), 'decided_at': instant}
CONTENT_1 = record({'v': one_of(1.0), **FIELDS, 'contributions': array(record(QUOTED, optional=('msg_id',))),
                    'record': record(COUNTED)}, optional=('subject', 'attestation'))
base64url = pattern('[A-Za-z0-9_-]*')
PROOFS = {'message': record({'type': one_of('message'), 'envelope': JWS, 'body': text()}),
          'signature': record({'type': one_of('signature'), 'created': instant,
                               'protected': refined(base64url, lambda t: len(t) <= 2048),
                               'signature': refined(base64url, lambda t: len(t) <= 8192)})}

def PROOF(value, path, found):
    kind = value.get('type') if isinstance(value, dict) else None
    if isinstance(kind, str) and kind in PROOFS: PROOFS[kind](value, path, found)
    else: found.append(('shape', path))

PROVEN = record({**QUOTED, 'ordinal': whole(1), 'proof': PROOF}, optional=('msg_id', 'proof'))
PROVEN_FIELDS = {
    **FIELDS, 'algorithm': one_of(*(f'{method}/1' for method in METHODS)), 'contributions': array(PROVEN),
    'record': record({**COUNTED, 'superseded': array(record({'ordinal': whole(1), 'digest': hex64}))}, optional=('superseded',))}
CONTENT_2 = record({'v': one_of(2.0), **PROVEN_FIELDS}, optional=('subject', 'attestation'))
LINEAGE = array(record({'relation': one_of('supersedes', 'rests_on'), 'block_id': hex64}), 1, 65)
CONTENT_3 = record({'v': one_of(3.0), **PROVEN_FIELDS, 'lineage': LINEAGE}, optional=('subject', 'attestation'))

def CONTENT(value, path, found):
    v = value.get('v') if isinstance(value, dict) else None
    shapes = {2.0: CONTENT_2, 3.0: CONTENT_3}
    (shapes.get(v, CONTENT_1) if isinstance(v, (int, float)) else CONTENT_1)(value, path, found)

BLOCK = record({'block_id': hex64, 'content': CONTENT, 'signature': JWS, 'keys': array(public_key(*ANY_USE))})
CONTRIBUTION = record({'session_id': text(1, 128), 'pair_score': fraction, 'accuracy': fraction, 'credibility': fraction,
                       'classification': label})

def does_not_follow(detail): return Fault('CONTENT', detail)

def verify_evidence(raw, directory, site=None):
    """`directory`: the trust in each site or contributor by name; `site`: those of the site that signed, where they have no name.
    The verdict in words; a block that no trusted key signed is not valid, since anybody can make one."""
    try:
        block = parse_json(raw, DEPTH)
    except Fault as fault:
        raise Fault('BAD_JSON' if fault.reason == 'INCOMPLETE' else fault.reason, fault.detail) from None
    check(BLOCK, block, 'the block')
    content = block['content']
    verify_content(block)
    trust = directory.get(content['site']) or Trust([])
    keys = (site or []) + trust.keys
    payload, signers = verify_jws('evidence', block['signature'], keys or block['keys'])
    require_signers(signers, trust.threshold, content['decided_at'])
    vouched = [vouch(content, each, directory) for each in content['contributions']]
    if not keys: raise Fault('UNKNOWN_KEY', 'integrity only: signed by a key in the block itself')
    return f"{content['decision']} {canonical(content['result']['score'])}: {', '.join(vouched)}"

def verify_content(block):
    """What follows from the block itself: its id, the order, the digests, the result, the decision, the proofs."""
    content = block['content']
    site, v, listed = content['site'], content['v'], content['contributions']
    if sha256(canonical(content).encode()) != block['block_id']: raise does_not_follow('the id is not that of the content')
    signed = canonical({'v': v, 'type': 'platform.evidence', 'site': site, 'block_id': block['block_id']})
    if block['signature']['payload'] != encode(signed.encode()): raise does_not_follow('the signature is over another block')
    names, policy = {each['contributor_id'] for each in listed}, content['policy']
    voters = names if 'contributors' in policy else {(each['contributor_id'], 'msg_id' in each) for each in listed}
    if len(voters) != len(listed) or len(listed) > policy['n'] or len(listed) > content['record']['contributions'] \
            or not names <= set(policy.get('contributors', names)):
        raise does_not_follow('the contributors are not those of the policy, once each')
    if listed != sorted(listed, key=combination.by_number_then_contributor): raise does_not_follow('another order')
    for each in listed:
        digested = {name: each[name] for name in QUOTED if name not in ('digest', 'msg_id')}
        if sha256(canonical(digested).encode()) != each['digest']: raise does_not_follow('a digest of another contribution')
    verify_result(content)
    if v == 3: verify_lineage(content)
    if v != 1: verify_proofs(content)

def verify_result(content):
    policy, attestation = content['policy'], content.get('attestation')
    if content['v'] != 1 and content['algorithm'] != f"{policy['combination_method']}/1":
        raise does_not_follow('another algorithm')
    if canonical(combination.combine(policy['combination_method'], content['contributions'])) != canonical(content['result']):
        raise does_not_follow('the result does not follow from the contributions')
    if attestation:
        if attestation['decision'] != content['decision'] or attestation['at'] != content['decided_at']:
            raise does_not_follow('the decision is not the attested one')
    elif combination.decide(policy, content['contributions']) != content['decision']:
        raise does_not_follow('the decision does not follow from the result by the policy')

def verify_lineage(content):
    """The blocks that the session names itself: one that it supersedes, and those that a person named who attested."""
    ids = [each['block_id'] for each in content['lineage']]
    if ids != sorted(set(ids)): raise does_not_follow('another order of the lineage')
    superseded = [each for each in content['lineage'] if each['relation'] == 'supersedes']
    if len(superseded) > 1: raise does_not_follow('two superseded blocks')
    if len(superseded) < len(ids) and 'attestation' not in content: raise does_not_follow('nobody attested')

def verify_proofs(content):
    """The quoted messages, the parents that they and the lineage name, and the chain of the record as far as the block lists it."""
    parents = {each['block_id'] for each in content.get('lineage', [])}
    for each in content['contributions']:
        has_message = each.get('proof', {}).get('type') == 'message'
        if ('msg_id' in each) != has_message: raise does_not_follow('a contribution of another site carries its message')
        if has_message: parents |= set(verify_message_proof(content, each)['parent_block_ids'])
    if sorted(parents) != content['parent_block_ids']: raise does_not_follow('other parent blocks')
    listed = [(each['ordinal'], each['digest']) for each in content['contributions']]
    listed = sorted(listed + [(each['ordinal'], each['digest']) for each in content['record'].get('superseded', [])])
    ordinals, count = [ordinal for ordinal, _ in listed], content['record']['contributions']
    if len(set(ordinals)) != len(ordinals) or (ordinals and ordinals[-1] > count): raise does_not_follow('a false numbering')
    if len(listed) != count:
        if 'superseded' in content['record']: raise does_not_follow('the record does not list all contributions')
        return
    chain = sha256(canonical(content['session_id']).encode())
    for _, digest in listed: chain = sha256((chain + digest).encode())
    if chain != content['record']['chain']: raise does_not_follow('another chain')

def verify_message_proof(content, quoted):
    """The statement of the message, whose data must be what the block quotes; its signature is judged by `vouch`."""
    proof = quoted['proof']
    body = proof['body'].encode()
    try:
        statement = read_statement(decode(proof['envelope']['payload']) or b'')
        signed = statement['body']
        if statement['kind'] != 'contribution' or (len(body), sha384(body)) != (signed['length'], signed['sha384']):
            raise Fault('BODY_DIGEST')
        message = parse_json(body, DEPTH)
        check(record({**BODY.members, 'label': nullable(label)}, optional=('label',)), message, 'the body')
        check(CONTRIBUTION, message['data'], 'the contribution')
    except Fault as fault:
        raise does_not_follow(f'the proof is not the message of a contribution: {fault.detail}') from None
    data = message['data']
    stated = (content['site'], content['tenant_id'], quoted['contributor_id'], quoted['msg_id'], content['session_id'],
              *(quoted[name] for name in ('pair_score', 'accuracy', 'credibility')))
    sent = (statement['dst'], statement['receiver_tenant_id'], statement['sender_tenant_id'], statement['msg_id'],
            *(data[name] for name in ('session_id', 'pair_score', 'accuracy', 'credibility')))
    if stated != sent: raise does_not_follow(f"{quoted['contributor_id']} is misquoted")
    if quoted['classification']['policy'] == data['classification']['policy'] \
            and canonical(quoted['classification']) != canonical(complete(data['classification'])):
        raise does_not_follow(f"{quoted['contributor_id']} is misquoted")
    return statement

def vouch(content, quoted, directory):
    """Whose signature stands for a contribution: its sender's or contributor's, or that of the origin alone."""
    name, proof = quoted['contributor_id'], quoted.get('proof')
    if proof is None: return f"{name} (origin alone)"
    if proof['type'] == 'message':
        statement = read_statement(decode(proof['envelope']['payload']))
        signer, purpose, jws, made = statement['src'], 'statement', proof['envelope'], statement['created']
    else:
        signed = {each: quoted[each] for each in ('accuracy', 'classification', 'contributor_id', 'credibility', 'pair_score')}
        signed |= {'v': 1.0, 'type': 'platform.contribution', 'session_id': content['session_id'], 'created': proof['created']}
        signature = {each: proof[each] for each in ('protected', 'signature')}
        jws = {'payload': encode(canonical(signed).encode()), 'signatures': [signature]}
        signer, purpose, made = name, 'contribution', proof['created']
    trust = directory.get(signer)
    if not trust or not trust.keys: return f"{name} (origin alone)"
    _, signers = verify_jws(purpose, jws, trust.keys)
    require_signers(signers, trust.threshold, made)
    if purpose == 'contribution' and quoted['signer_key_id'] not in {key['kid'] for key in signers}:
        raise does_not_follow(f'{name}: another key signed than the block names')
    return f"{name} ({signer})"
