// The content of an emission; a stored emission of a peer only moves forward: ratified, then withdrawn.
import { describe, expect, test } from 'vitest'
import {
  buildStoredSession,
  recorded_at,
  unclassifiedLabel,
} from '../../../../test/support/consensus/session-records.ts'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { ratifySession, withdrawSession } from '../session/rules.ts'
import { type SentEmission, type StoredEmission, sentEmission } from './model.ts'
import { emissionId, emissionOf, mergeEmission } from './rules.ts'

const session_id = `ses_${'1'.repeat(32)}`
const result = { method: 'weighted_average' as const, score: 0.9, conflict: 0, total_weight: 2 }
const ratifiedSession = {
  ...ratifySession(buildStoredSession({ id: session_id, result }), 'match', 'contribution', 'ann', recorded_at),
  evidence_block_id: 'e'.repeat(64),
}

describe('an emission', () => {
  test('carries the decision under the number of the session’s event', () => {
    const emission = emissionOf(ratifiedSession, 'ratified')
    expect(sentEmission.parse(emission)).toEqual({
      event: 'ratified',
      session_id,
      seq: ratifiedSession.history.at(-1)?.seq,
      at: recorded_at,
      lens_id: 'lens-1',
      lens_version: '3',
      decision: 'match',
      score: 0.9,
      attested: false,
      evidence_block_id: 'e'.repeat(64),
    })
  })

  test('of a ratification is unchanged after the withdrawal; the retraction has a higher number', () => {
    const withdrawn = withdrawSession(ratifiedSession, ['hook'], 'ann', '2026-03-02T13:00:00.000Z')
    if (isRefusal(withdrawn)) throw withdrawn
    expect(emissionOf(withdrawn, 'ratified')).toEqual(emissionOf(ratifiedSession, 'ratified'))
    const { seq, at, ...retracted } = emissionOf(withdrawn, 'retracted')
    expect([at, seq > emissionOf(ratifiedSession, 'ratified').seq]).toEqual(['2026-03-02T13:00:00.000Z', true])
    expect(retracted).toMatchObject({ event: 'retracted', decision: 'match', evidence_block_id: 'e'.repeat(64) })
  })

  test('marks a decision of a person, and has no score where the contributions gave none', () => {
    const attestation = { id: 'att_1', by: 'ann', decision: 'non_match' as const, rationale: 'seen', at: recorded_at }
    const subject = { kind: 'entity_match', left: 'a', right: 'b', correlation_id: 'match-7' }
    const attested = ratifySession(
      buildStoredSession({ attestation, subject }),
      'non_match',
      'attest',
      'ann',
      recorded_at,
    )
    expect(emissionOf(attested, 'ratified')).toMatchObject({
      attested: true,
      decision: 'non_match',
      score: null,
      subject,
    })
  })

  test('is not built from an event that did not happen', () => {
    expect(() => emissionOf(buildStoredSession(), 'ratified')).toThrow('was not ratified')
    expect(() => emissionOf(ratifiedSession, 'retracted')).toThrow('was not retracted')
  })
})

function storedEmissionOf(overrides: Partial<SentEmission>, received_at = recorded_at): StoredEmission {
  const { event, ...emission } = { ...emissionOf(ratifiedSession, 'ratified'), ...overrides }
  return {
    ...emission,
    tenant_id: 'tenant-a',
    label: unclassifiedLabel,
    origin: 'bravo',
    origin_tenant_id: 'tenant-b',
    status: event === 'ratified' ? 'standing' : 'withdrawn',
    signer_key_id: 'key-1',
    federation: { transport: 'filedrop', peer: 'bravo', msg_id: 'msg_1', epoch: 1, seq: 1, parent_block_ids: [] },
    received_at,
    updated_at: received_at,
    digest: canonicalDigest({ event, ...emission }),
  }
}

describe('a repeated emission of an origin', () => {
  const later = '2026-03-02T14:00:00.000Z'
  const stored = storedEmissionOf({ seq: 5 })
  const withdrawn = storedEmissionOf({ seq: 7, event: 'retracted' }, later)
  const codeOf = (current: StoredEmission, received: StoredEmission) => {
    const next = mergeEmission(current, received)
    return isRefusal(next) ? next.code : undefined
  }

  test('with equal content changes nothing, in any message', () => {
    const again = {
      ...storedEmissionOf({ seq: 5 }, later),
      federation: { ...stored.federation, msg_id: 'msg_2', seq: 2 },
    }
    expect(mergeEmission(stored, again)).toBe(stored)
    expect(mergeEmission(withdrawn, storedEmissionOf({ seq: 7, event: 'retracted' }))).toBe(withdrawn)
  })

  test('with a retraction withdraws the decision, which never returns', () => {
    expect(mergeEmission(stored, withdrawn)).toEqual({ ...withdrawn, received_at: recorded_at })
    expect(mergeEmission(withdrawn, stored)).toBe(withdrawn)
  })

  test('with other content under the same number is refused', () => {
    expect(codeOf(stored, storedEmissionOf({ seq: 5, decision: 'non_match' }))).toBe('idempotency_mismatch')
    expect(codeOf(stored, storedEmissionOf({ seq: 5, event: 'retracted' }))).toBe('idempotency_mismatch')
  })

  test('with a second decision, or with anything after the retraction, is refused', () => {
    expect(codeOf(stored, storedEmissionOf({ seq: 8, decision: 'non_match' }))).toBe('session_closed')
    expect(codeOf(withdrawn, storedEmissionOf({ seq: 8 }))).toBe('session_closed')
    expect(codeOf(withdrawn, storedEmissionOf({ seq: 8, event: 'retracted' }))).toBe('session_closed')
  })
})

test('emissions of two origins never share an id', () => {
  // Names of sites contain no @, so the last one separates the two parts.
  const ids = [emissionId('alpha', 'ses_1'), emissionId('bravo', 'ses_1'), emissionId('bravo', 'ses_1@alpha')]
  expect(new Set(ids).size).toBe(3)
  expect(ids.map((id) => id.split('@').at(-1))).toEqual(['alpha', 'bravo', 'bravo'])
})
