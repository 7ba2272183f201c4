// Holds merging to what must survive when its steps are repeated, come late, or meet another change.
import { expect, test } from 'vitest'
import { isRefused } from '../../../kernel/errors.ts'
import type { StoredSignal } from '../signal/model.ts'
import { placed } from '../signal/standing.ts'
import { claimed, givenUp, leaving, letGo, released, stoodFor, taken, taking } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const later = '2026-03-02T13:00:00.000Z'
const policy = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }
const viewer = { tenant_id: 'alpha', clearance: { level: 'SECRET', categories: [] } }
const open = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const secret = { ...open, level: 'SECRET' }
const why = { by: 'ann', at, rationale: 'the same' }

function aSignal(more: Partial<StoredSignal> = {}): StoredSignal {
  return {
    ...{ tenant_id: 'alpha', label: open, created_by: 'bob', created_at: at, updated_at: at, request_digest: '' },
    ...{ schema_version: '1.1', signal_type: 'test', source: { type: 'manual' }, severity: 'low', title: 't' },
    subject: { type: 'asset', id: 'a', name: 'A' },
    actor: { type: 'person', id: 'bob' },
    ...{ detected_at: at, expires_at: at, status: 'new', metadata: { status_history: [] }, request_key: 'sig_1' },
    ...{ source_type: 'manual', standing: 'listed', subject_standing: 'listed' },
    ...{ links: [], subject_id: 'a', owes: 0, revision: 0, untold: [], tally: '', ...more },
  }
}

/** Throws for a refusal. */
function sound(result: StoredSignal | Error): StoredSignal {
  if (result instanceof Error) throw result
  return result
}

const take = (into: StoredSignal, value: StoredSignal, key = 'k1') =>
  taking(into, [{ signal_id: 'sig_2', value }], { ...why, key }, { into: 'sig_1', brought: [], viewer, policy })
const itemOf = ({ taken_in }: StoredSignal) => taken_in?.[0] ?? expect.fail('nothing is taken in')

const claim = (current: StoredSignal, value: StoredSignal, id = 'sig_1') =>
  claimed(current, { id, value }, itemOf(value), policy)
const codeOf = (result: unknown) => isRefused(result) && result.code

/** A survivor and the signal that is merged into it, settled. */
function pair(key = 'k1') {
  const intent = sound(take(aSignal(), aSignal({ label: secret }), key))
  const merged = sound(claim(aSignal({ label: secret }), intent))
  return { survivor: taken(intent, 'sig_2', at), merged }
}

test('what is owed is found until it is told, and each step again is no change', () => {
  const intent = sound(take(aSignal(), aSignal({ label: secret })))
  expect(intent).toMatchObject({ owes: 1, label: { level: 'SECRET' }, own_label: open })
  const { survivor, merged } = pair()
  expect([survivor.owes, merged.owes, merged.standing]).toEqual([0, 0, 'merged'])
  expect(taken(survivor, 'sig_2', at)).toBe(survivor)
  expect(claim(merged, survivor)).toBe(merged)
  expect(take(survivor, merged)).toBe(survivor)
})

test('taken out, both are as they were but for their histories', () => {
  const { survivor, merged } = pair()
  const going = sound(leaving(survivor, 'sig_2', why))
  const [left, out] = [letGo(going, 'sig_2', at, policy), released(merged, itemOf(going))]
  const bare = ({ metadata: _history, ...rest }: StoredSignal) => rest
  expect([bare(left), bare(out)]).toEqual([bare(aSignal()), bare(aSignal({ label: secret }))])
  expect(left.metadata.status_history.map(({ event, label }) => [event, label?.level])).toEqual([
    ...[
      ['took_in', 'SECRET'],
      ['let_go', 'SECRET'],
    ],
  ])
})

test('one who comes late takes back nothing of a later merging', () => {
  const late = itemOf(sound(leaving(pair('k1').survivor, 'sig_2', why)))
  const { merged } = pair('k2')
  expect(released(merged, late)).toBe(merged)
})

test('a signal that is merged elsewhere, takes in others, or was raised meanwhile is left out, and the survivor comes down', () => {
  const intent = sound(take(aSignal(), aSignal({ label: secret })))
  const changes = [
    pair().merged,
    sound(take(aSignal({ label: secret }), aSignal())),
    aSignal({ label: { ...secret, categories: ['A'] } }),
    aSignal({ label: secret, related_signals: ['sig_7'] }),
  ]
  for (const [n, now] of changes.entries()) {
    const refused = claim(now, intent, n === 0 ? 'sig_9' : 'sig_1')
    expect(isRefused(refused) && refused.code).toBe('wrong_state')
  }
  const none = givenUp(intent, 'sig_2', later, policy)
  expect(none).toMatchObject({ label: open, owes: 0, updated_at: later })
  expect(none).not.toHaveProperty('taken_in')
})

test('a merged signal takes none in and lets none go, and labels that nobody holds together are not joined', () => {
  const { merged, survivor } = pair()
  const codes = [
    take(merged, aSignal()),
    leaving({ ...survivor, ...(merged.merge ? { merge: merged.merge } : {}) }, 'sig_2', why),
    leaving(aSignal(), 'sig_2', why),
    take(aSignal(), aSignal({ label: { ...open, releasable_to: ['bravo'] } })),
    take(aSignal({ links: [{ insight_id: 'ins_1', label: open, told: 0 }] }), aSignal({ label: secret })),
  ].map((each) => isRefused(each) && each.code)
  expect(codes).toEqual(['wrong_state', 'wrong_state', 'wrong_state', 'label_denied', 'label_denied'])
})

test('one that was linked meanwhile to an insight below the survivor is left out, also where another brought the link', () => {
  const link = { insight_id: 'ins_1', label: open, told: 0 }
  const intent = sound(take(aSignal({ label: secret }), aSignal()))
  expect(codeOf(claim(aSignal({ links: [link] }), intent))).toBe('label_denied')
  const setting = { into: 'sig_1', brought: [link], viewer, policy }
  const high = [{ signal_id: 'sig_3', value: aSignal({ label: secret }) }]
  expect(codeOf(taking(aSignal(), high, { ...why, key: 'k1' }, setting))).toBe('label_denied')
})

test('a claim of an earlier merging is not taken for that of a later one', () => {
  expect(codeOf(claim(pair('k1').merged, pair('k2').survivor))).toBe('wrong_state')
})

test('an open signal is not merged into one that is over; one that is over is', () => {
  const over = aSignal({ status: 'dismissed' })
  expect(codeOf(take(over, aSignal()))).toBe('wrong_state')
  expect(codeOf(take(over, over))).toBe(false)
})

test('a survivor brings nothing to itself, and is listed while it stands for others', () => {
  const survivor = placed(aSignal({ silence_id: 'sil_1', silence_label: open }))
  const intent = sound(take(survivor, aSignal({ related_signals: ['sig_1', 'sig_7'] })))
  expect([survivor.standing, intent.standing, itemOf(intent).related]).toEqual(['silenced', 'listed', ['sig_7']])
  expect(givenUp(intent, 'sig_2', later, policy).standing).toBe('silenced')
})

test('an insight that knows of an earlier merging is still to be told of a later one', () => {
  const linked = { ...pair('k2').merged, links: [{ insight_id: 'ins_1', label: secret, told: 1, stands: 'k1' }] }
  expect(stoodFor(linked, 'ins_1', 'k1').owes).toBe(1)
  expect(stoodFor(linked, 'ins_1', 'k2').owes).toBe(0)
})
