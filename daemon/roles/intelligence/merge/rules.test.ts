// Merges stay correct when their steps are repeated, arrive late, or meet another change.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { StoredSignal } from '../signal/model.ts'
import { withVisibility } from '../signal/visibility.ts'
import {
  abandonMerge,
  beginMerge,
  beginUnmerge,
  claimSignal,
  completeMerge,
  completeUnmerge,
  recordKnownMerge,
  releaseSignal,
} from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const laterTime = '2026-03-02T13:00:00.000Z'
const policy = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }
const viewer = { tenant_id: 'alpha', clearance: { level: 'SECRET', categories: [] } }
const open = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const secret = { ...open, level: 'SECRET' }
const annAction = { by: 'ann', at, rationale: 'the same' }

function storedSignalWith(overrides: Partial<StoredSignal> = {}): StoredSignal {
  return {
    ...{ tenant_id: 'alpha', label: open, created_by: 'bob', created_at: at, updated_at: at, request_digest: '' },
    ...{ schema_version: '1.1', signal_type: 'test', source: { type: 'manual' }, severity: 'low', title: 't' },
    subject: { type: 'asset', id: 'a', name: 'A' },
    actor: { type: 'person', id: 'bob' },
    ...{ detected_at: at, expires_at: at, status: 'new', metadata: { status_history: [] }, request_key: 'sig_1' },
    ...{ source_type: 'manual', visibility: 'listed', subject_visibility: 'listed' },
    ...{ links: [], subject_id: 'a', owes: 0, revision: 0, untold: [], tally: '', ...overrides },
  }
}

/** Throws for a refusal. */
function requireSignal(result: StoredSignal | Error): StoredSignal {
  if (result instanceof Error) throw result
  return result
}

const mergeInto = (into: StoredSignal, value: StoredSignal, key = 'k1') =>
  beginMerge(
    into,
    [{ signal_id: 'sig_2', value }],
    { ...annAction, key },
    { into: 'sig_1', brought: [], viewer, policy },
  )
const firstItem = ({ taken_in }: StoredSignal) => taken_in?.[0] ?? expect.fail('no signal is merged')

const claimFrom = (current: StoredSignal, value: StoredSignal, id = 'sig_1') =>
  claimSignal(current, { id, value }, firstItem(value), policy)
const codeOf = (result: unknown) => isRefusal(result) && result.code

/** A survivor and the signal that is merged into it, settled. */
function mergedPair(key = 'k1') {
  const intent = requireSignal(mergeInto(storedSignalWith(), storedSignalWith({ label: secret }), key))
  const merged = requireSignal(claimFrom(storedSignalWith({ label: secret }), intent))
  return { survivor: completeMerge(intent, 'sig_2', at), merged }
}

test('pending updates are indexed until delivered, and a repeated step changes nothing', () => {
  const intent = requireSignal(mergeInto(storedSignalWith(), storedSignalWith({ label: secret })))
  expect(intent).toMatchObject({ owes: 1, label: { level: 'SECRET' }, own_label: open })
  const { survivor, merged } = mergedPair()
  expect([survivor.owes, merged.owes, merged.visibility]).toEqual([0, 0, 'merged'])
  expect(completeMerge(survivor, 'sig_2', at)).toBe(survivor)
  expect(claimFrom(merged, survivor)).toBe(merged)
  expect(mergeInto(survivor, merged)).toBe(survivor)
})

test('after an unmerge both signals are as before, except for their histories', () => {
  const { survivor, merged } = mergedPair()
  const unmerging = requireSignal(beginUnmerge(survivor, 'sig_2', annAction))
  const [survivorAfter, released] = [
    completeUnmerge(unmerging, 'sig_2', at, policy),
    releaseSignal(merged, firstItem(unmerging)),
  ]
  const bare = ({ metadata: _history, ...rest }: StoredSignal) => rest
  expect([bare(survivorAfter), bare(released)]).toEqual([
    bare(storedSignalWith()),
    bare(storedSignalWith({ label: secret })),
  ])
  expect(survivorAfter.metadata.status_history.map(({ event, label }) => [event, label?.level])).toEqual([
    ...[
      ['took_in', 'SECRET'],
      ['let_go', 'SECRET'],
    ],
  ])
})

test('a late step does not undo a later merge', () => {
  const lateClaim = firstItem(requireSignal(beginUnmerge(mergedPair('k1').survivor, 'sig_2', annAction)))
  const { merged } = mergedPair('k2')
  expect(releaseSignal(merged, lateClaim)).toBe(merged)
})

test('a signal that is merged elsewhere, has merged signals, or has a higher label now is left out, and the survivor’s label is lowered', () => {
  const intent = requireSignal(mergeInto(storedSignalWith(), storedSignalWith({ label: secret })))
  const changes = [
    mergedPair().merged,
    requireSignal(mergeInto(storedSignalWith({ label: secret }), storedSignalWith())),
    storedSignalWith({ label: { ...secret, categories: ['A'] } }),
    storedSignalWith({ label: secret, related_signals: ['sig_7'] }),
  ]
  for (const [n, now] of changes.entries()) {
    const refusal = claimFrom(now, intent, n === 0 ? 'sig_9' : 'sig_1')
    expect(isRefusal(refusal) && refusal.code).toBe('wrong_state')
  }
  const abandoned = abandonMerge(intent, 'sig_2', laterTime, policy)
  expect(abandoned).toMatchObject({ label: open, owes: 0, updated_at: laterTime })
  expect(abandoned).not.toHaveProperty('taken_in')
})

test('a merged signal can neither merge nor unmerge others, and labels without a viewer are not joined', () => {
  const { merged, survivor } = mergedPair()
  const codes = [
    mergeInto(merged, storedSignalWith()),
    beginUnmerge({ ...survivor, ...(merged.merge ? { merge: merged.merge } : {}) }, 'sig_2', annAction),
    beginUnmerge(storedSignalWith(), 'sig_2', annAction),
    mergeInto(storedSignalWith(), storedSignalWith({ label: { ...open, releasable_to: ['bravo'] } })),
    mergeInto(
      storedSignalWith({ links: [{ insight_id: 'ins_1', label: open, told: 0 }] }),
      storedSignalWith({ label: secret }),
    ),
  ].map((each) => isRefusal(each) && each.code)
  expect(codes).toEqual(['wrong_state', 'wrong_state', 'wrong_state', 'label_denied', 'label_denied'])
})

test('a signal linked meanwhile to an insight below the survivor is left out, also with an inherited link', () => {
  const link = { insight_id: 'ins_1', label: open, told: 0 }
  const intent = requireSignal(mergeInto(storedSignalWith({ label: secret }), storedSignalWith()))
  expect(codeOf(claimFrom(storedSignalWith({ links: [link] }), intent))).toBe('label_denied')
  const setting = { into: 'sig_1', brought: [link], viewer, policy }
  const high = [{ signal_id: 'sig_3', value: storedSignalWith({ label: secret }) }]
  expect(codeOf(beginMerge(storedSignalWith(), high, { ...annAction, key: 'k1' }, setting))).toBe('label_denied')
})

test('a claim of an earlier merge is not taken for a claim of a later one', () => {
  expect(codeOf(claimFrom(mergedPair('k1').merged, mergedPair('k2').survivor))).toBe('wrong_state')
})

test('an open signal is not merged into a closed one; a closed signal is', () => {
  const dismissedSignal = storedSignalWith({ status: 'dismissed' })
  expect(codeOf(mergeInto(dismissedSignal, storedSignalWith()))).toBe('wrong_state')
  expect(codeOf(mergeInto(dismissedSignal, dismissedSignal))).toBe(false)
})

test('a survivor inherits no link from itself, and is listed while it has merged signals', () => {
  const survivor = withVisibility(storedSignalWith({ silence_id: 'sil_1', silence_label: open }))
  const intent = requireSignal(mergeInto(survivor, storedSignalWith({ related_signals: ['sig_1', 'sig_7'] })))
  expect([survivor.visibility, intent.visibility, firstItem(intent).related]).toEqual(['silenced', 'listed', ['sig_7']])
  expect(abandonMerge(intent, 'sig_2', laterTime, policy).visibility).toBe('silenced')
})

test('an insight that followed an earlier merge still has to follow a later one', () => {
  const linked = { ...mergedPair('k2').merged, links: [{ insight_id: 'ins_1', label: secret, told: 1, stands: 'k1' }] }
  expect(recordKnownMerge(linked, 'ins_1', 'k1').owes).toBe(1)
  expect(recordKnownMerge(linked, 'ins_1', 'k2').owes).toBe(0)
})
