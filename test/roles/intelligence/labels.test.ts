// The label of everything that is made of signals is the join of what it is made of: on every path that makes something.
import { expect, test } from 'vitest'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { signalChanges } from '../../../daemon/roles/intelligence/change-log/model.ts'
import { draft } from '../../../daemon/roles/intelligence/edition/draft.ts'
import { get as insightOf } from '../../../daemon/roles/intelligence/insight/get.ts'
import { open } from '../../../daemon/roles/intelligence/insight/open.ts'
import { ledgerEvents } from '../../../daemon/roles/intelligence/ledger/model.ts'
import { create } from '../../../daemon/roles/intelligence/signal/create.ts'
import { exportStix } from '../../../daemon/roles/intelligence/signal/export.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildSignalInput, raiseSignal, setUpIntelligenceSite, waitUntilOutboxEmpty } from './intelligence-site.ts'

const world = setUpIntelligenceSite()
const allCleared = { clearance: { level: 'TOP_SECRET', categories: ['A', 'B', 'C'] } }

const restricted = { level: 'RESTRICTED', categories: ['A'], releasable_to: ['tenant-a', 'FRA', 'DEU'] }
const secret = { level: 'SECRET', categories: ['B'], releasable_to: ['tenant-a', 'DEU', 'ITA'] }
const plain = { level: 'UNCLASSIFIED', releasable_to: ['DEU', 'FRA', 'ITA', 'tenant-a'] }
/** Highest level, all categories, and only readers allowed by each. */
const joinedLabel = { level: 'SECRET', categories: ['A', 'B'], releasable_to: ['DEU', 'tenant-a'] }

test('a signal of several others has the join of all, in any order of names', async () => {
  const ann = await world().as(allCleared)
  const parts = await Promise.all(
    [restricted, secret, plain].map((classification) => raiseSignal(ann, { classification })),
  )
  for (const related_signals of [parts, parts.toReversed(), [...parts, ...parts]]) {
    const made = await ann.ok(create, buildSignalInput({ related_signals, classification: plain }))
    expect(made.classification).toMatchObject(joinedLabel)
  }
  // The sources of a related signal are in its label already.
  const [first = '', second = ''] = parts
  const middle = await raiseSignal(ann, { related_signals: [first, second], classification: plain })
  const last = await ann.ok(create, buildSignalInput({ related_signals: [middle], classification: plain }))
  expect(last.classification).toMatchObject(joinedLabel)
  // A label without names is releasable to its originator alone.
  const own = await ann.ok(create, buildSignalInput({ related_signals: [first], classification: 'UNCLASSIFIED' }))
  expect(own.classification).toMatchObject({ level: 'RESTRICTED', categories: ['A'], releasable_to: ['tenant-a'] })
})

test('a join that would leave nobody, or is above who asks, is refused', async () => {
  const ann = await world().as(allCleared)
  const fra = await world().as({ ...allCleared, clearance: { ...allCleared.clearance, nationality: 'FRA' } })
  const away = await raiseSignal(fra, { classification: { level: 'UNCLASSIFIED', releasable_to: ['FRA'] } })
  const here = await raiseSignal(ann, { classification: { level: 'UNCLASSIFIED', releasable_to: ['tenant-a'] } })
  expect(await fra.refusal(create, buildSignalInput({ related_signals: [away, here] }))).toBe('label_denied')
  expect(await ann.refusal(create, buildSignalInput({ related_signals: [away] }))).toBe('not_found')
})

test('an insight has the join of its first signal and its own; links and editions never lift it, nor lower a signal', async () => {
  const ann = await world().as(allCleared)
  const [low, mid, high] = await Promise.all(
    [plain, restricted, secret].map((classification) => raiseSignal(ann, { classification })),
  )
  const made = await ann.ok(open, { signal_id: mid ?? '', title: 'Both', classification: secret })
  expect(made.classification).toMatchObject(joinedLabel)
  const uid = made.uid
  for (const each of [low, high]) await ann.ok(linkInsight, { uid: each ?? '', insight_id: uid })
  await ann.ok(draft, { uid, title: 't', summary: 's', closes: false })
  expect((await ann.ok(insightOf, { uid })).classification).toEqual(made.classification)
  expect((await ann.ok(get, { uid: low ?? '' })).classification).toMatchObject(plain)
  // Of the same level, and of a category that the insight does not hold; or for others than it is for.
  for (const classification of [
    { level: 'SECRET', categories: ['C'], releasable_to: ['tenant-a', 'DEU'] },
    { level: 'SECRET', categories: ['A'], releasable_to: ['tenant-a'] },
    'TOP_SECRET',
  ])
    expect(await ann.refusal(linkInsight, { uid: await raiseSignal(ann, { classification }), insight_id: uid })).toBe(
      'label_denied',
    )
})

test('ledgers, changes and exports carry the label of what they tell of', async () => {
  const ann = await world().as(allCleared)
  const signal_type = 'label_paths'
  const signal = await raiseSignal(ann, { signal_type, classification: plain })
  const insight = await ann.ok(open, { signal_id: signal, title: 'Both', classification: secret })
  await waitUntilOutboxEmpty(world())
  const store = world().store('intelligence')
  const levelsOf = (docs: readonly { value: { label: Label } }[]) => docs.map(({ value: { label } }) => label.level)
  const ledger = await store.list(ledgerEvents, { filter: { insight_id: insight.uid }, limit: 10 })
  expect(new Set(levelsOf(ledger.docs))).toEqual(new Set(['SECRET']))
  const order = { field: 'place', direction: 'asc' } as const
  const changes = await waitUntil(async () => {
    const { docs } = await store.list(signalChanges, { filter: { signal_id: signal }, order, limit: 10, fresh: true })
    return docs.length === 2 && docs
  })
  expect(levelsOf(changes)).toEqual(['UNCLASSIFIED', 'SECRET'])
  const { bundle } = await ann.ok(exportStix, { signal_type })
  const marking = bundle.objects?.find(({ type }) => type === 'marking-definition')
  expect(JSON.stringify(marking)).toContain('UNCLASSIFIED // releasable to DEU, FRA, ITA, tenant-a')
  expect(JSON.stringify(bundle)).not.toContain('SECRET')
})
