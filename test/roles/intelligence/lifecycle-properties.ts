// Properties of the lifecycle on every store: step by step beside a model, and under callers who all act at once.
import fc from 'fast-check'
import { expect } from 'vitest'
import { attest } from '../../../daemon/roles/intelligence/edition/attest.ts'
import { draft } from '../../../daemon/roles/intelligence/edition/draft.ts'
import { close } from '../../../daemon/roles/intelligence/insight/close.ts'
import { get as insightOf } from '../../../daemon/roles/intelligence/insight/get.ts'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { list as ledgerOf } from '../../../daemon/roles/intelligence/ledger/list.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { merge } from '../../../daemon/roles/intelligence/signal/merge.ts'
import type { Signal } from '../../../daemon/roles/intelligence/signal/model.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import { unmerge } from '../../../daemon/roles/intelligence/signal/unmerge.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import type { TestSite } from '../../support/site/test-site.ts'
import { openInsight, raiseSignal, waitUntilOutboxEmpty } from './intelligence-site.ts'
import { expectLifecycleAgrees } from './lifecycle-agreement.ts'
import { commands, createLifecycleSystem, endSilence } from './lifecycle-commands.ts'
import { isFinal, isStep, LifecycleModel } from './lifecycle-model.ts'

export async function expectFollowsModel(world: TestSite, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const model = new LifecycleModel()
      const real = await createLifecycleSystem(world, model)
      await fc.asyncModelRun(() => ({ model, real }), steps)
      await expectLifecycleAgrees(real, model)
      await endSilence(real, model)
    }),
    { numRuns, seed: 20_260_302, endOnFailure: true },
  )
}

const verbs = [
  ...(['acknowledge', 'investigating', 'resolved', 'dismissed', 'archive', 'link'] as const),
  ...(['merge', 'unmerge'] as const),
]
const crowdActions = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ verb: fc.constantFrom(...verbs), at: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constantFrom('start', 'attest', 'close'), at: fc.constant(0) }) },
  ),
  { minLength: 4, maxLength: 24 },
)
type CrowdAction = { readonly verb: (typeof verbs)[number] | 'start' | 'attest' | 'close'; readonly at: number }

/** Each acknowledged change of a status is in the history of its signal, under its reason; no other is. */
export async function expectSurvivesCrowd(world: TestSite, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(crowdActions, fc.boolean(), async (actions, isStarted) => {
      const person = await world.as()
      const uids = await Promise.all([raiseSignal(person), raiseSignal(person), raiseSignal(person)])
      const insight_id = await openInsight(person, uids[0])
      const { editions } = await person.ok(draft, { uid: insight_id, title: 't', summary: '', closes: true })
      if (isStarted) await person.ok(start, { uid: insight_id })
      const edition_id = editions[0]?.edition_id ?? ''
      const done: string[][] = [[], [], []]
      await Promise.all(
        actions.map(async (action, number) => {
          const reason = `action ${number}`
          const [uid = '', other = ''] = [uids[action.at], uids[(action.at + 1) % 3]]
          const code = await performAction(person, { ...action, reason, uid, other, insight_id, edition_id })
          expect([200, 'wrong_state']).toContain(code)
          if (code === 200 && isSignalAction(action)) done[action.at]?.push(reason)
        }),
      )
      await waitUntilOutboxEmpty(world)
      const signals = await Promise.all(uids.map((uid) => person.ok(get, { uid })))
      for (const [at, signal] of signals.entries()) expectHistory(signal, done[at] ?? [])
      expectMerges(signals)
      await expectLedger(person, insight_id, signals)
    }),
    { numRuns, seed: 8, endOnFailure: true },
  )
}

const isSignalAction = ({ verb }: CrowdAction) =>
  !['link', 'start', 'attest', 'close', 'merge', 'unmerge'].includes(verb)

type CrowdActionInput = CrowdAction & {
  reason: string
  uid: string
  other: string
  insight_id: string
  edition_id: string
}

function performAction(
  person: CheckedClient,
  { verb, reason: rationale, uid, other, insight_id, edition_id }: CrowdActionInput,
) {
  if (verb === 'merge') return person.refusal(merge, { uid: other, signal_ids: [uid], rationale })
  if (verb === 'unmerge') return person.refusal(unmerge, { uid, rationale })
  if (verb === 'start') return person.refusal(start, { uid: insight_id })
  if (verb === 'close') return person.refusal(close, { uid: insight_id, rationale })
  if (verb === 'attest') return person.refusal(attest, { uid: insight_id, edition_id, rationale })
  if (verb === 'link') return person.refusal(linkInsight, { uid, insight_id, rationale })
  if (verb === 'acknowledge') return person.refusal(acknowledge, { uid, note: rationale })
  if (verb === 'archive') return person.refusal(archive, { uid, rationale })
  return person.refusal(setDisposition, { uid, disposition: verb, rationale })
}

function expectHistory({ status, metadata: { status_history }, linked_insight_ids }: Signal, done: readonly string[]) {
  expect(status_history.map(({ from }) => from)).toEqual(['new', ...status_history.map(({ to }) => to)].slice(0, -1))
  expect(status_history.at(-1)?.to ?? 'new').toBe(status)
  const changes = status_history.filter(({ from, to }) => from !== to)
  for (const { from, to } of changes) expect(isStep(from, to), `${from} ${to}`).toBe(true)
  const merges = status_history.filter(({ event }) => event !== undefined)
  const links = status_history.length - changes.length - merges.length
  // Links from a merged signal need no step of their own.
  if (merges.length === 0) expect(links).toBe(linked_insight_ids.length)
  const reasons = changes.flatMap(({ rationale = '' }) => (rationale.startsWith('action ') ? [rationale] : []))
  expect(reasons.toSorted()).toEqual(done.toSorted())
}

/** A merged signal and the one that stands for it know of each other, as the last steps of both tell; none stands for itself. */
function expectMerges(signals: readonly Signal[]): void {
  for (const { uid, merged_into, merged_signals = [], metadata } of signals) {
    const events = metadata.status_history.map(({ event }) => event)
    const own = events.filter((event) => event === 'merged' || event === 'unmerged')
    expect(own).toEqual(own.map((_, at) => (at % 2 === 0 ? 'merged' : 'unmerged')))
    expect(merged_into !== undefined).toBe(own.at(-1) === 'merged')
    const standsFor = signals.filter((each) => each.merged_into === uid).map((each) => each.uid)
    expect(merged_signals.map(({ signal_id }) => signal_id).toSorted()).toEqual(standsFor.toSorted())
    const taken = events.filter((event) => event === 'took_in').length
    expect(taken - events.filter((event) => event === 'let_go').length).toBe(merged_signals.length)
    const roots = [merged_into]
    while (roots.at(-1) !== undefined && roots.length <= signals.length)
      roots.push(signals.find((each) => each.uid === roots.at(-1))?.merged_into)
    expect(roots.at(-1)).toBeUndefined()
  }
}

/** The ledger reports each linked signal from the link on, in one order without a gap. */
async function expectLedger(person: CheckedClient, uid: string, signals: readonly Signal[]): Promise<void> {
  const { state, linked_signal_ids, merged_signals = [] } = await person.ok(insightOf, { uid })
  const linked = signals.filter((each) => each.linked_insight_ids.includes(uid))
  expect(linked.map((each) => each.uid).toSorted()).toEqual(linked_signal_ids.toSorted())
  const { items } = await person.ok(ledgerOf, { uid, limit: 500 })
  expect(items.map(({ seq }) => seq)).toEqual(items.map((_, at) => at + 1))
  const isMerged = ({ metadata }: Signal) => metadata.status_history.some(({ event }) => event !== undefined)
  // The ledger reports links that come and go with merges while they exist.
  for (const signal of linked.filter((each) => !isMerged(each))) {
    const link = items.filter((each) => each.type === 'signal_linked' && each.signal_id === signal.uid)
    expect(link).toHaveLength(1)
    const since = link[0]?.type === 'signal_linked' ? link[0].status : undefined
    const changes = signal.metadata.status_history.filter(({ from, to }) => from !== to)
    const first = changes.findIndex(({ from }) => from === since)
    const recorded = items.flatMap((each) =>
      each.type === 'signal_disposition_set' && each.signal_id === signal.uid ? [[each.from, each.to]] : [],
    )
    expect(recorded).toEqual(first < 0 ? [] : changes.slice(first).map(({ from, to }) => [from, to]))
  }
  if (state !== 'closed') return
  expect(items.at(-1)?.type).toBe('insight_closed')
  const stood = new Set(merged_signals.map(({ signal_id }) => signal_id))
  for (const each of linked) expect(stood.has(each.uid) || isFinal(each.status)).toBe(true)
}
