// Holds all that is stored of signals and insights against the model of what must be.
import { expect } from 'vitest'
import { get as insightOf } from '../../../daemon/roles/intelligence/insight/get.ts'
import { list as ledgerOf } from '../../../daemon/roles/intelligence/ledger/list.ts'
import type { LedgerEvent } from '../../../daemon/roles/intelligence/ledger/model.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import type { TestSite } from '../../support/site/test-site.ts'
import { waitUntilOutboxEmpty } from './intelligence-site.ts'
import type { LifecycleModel } from './lifecycle-model.ts'

/** Ids by the model's numbers. */
export type LifecycleSystem = {
  readonly world: TestSite
  readonly person: CheckedClient
  readonly signals: string[]
  readonly insights: string[]
  readonly editions: string[][]
  readonly silence: string
}

/** Holds all that is stored against the model. */
export async function expectLifecycleAgrees(real: LifecycleSystem, model: LifecycleModel): Promise<void> {
  await waitUntilOutboxEmpty(real.world)
  for (const [at, uid] of real.signals.entries()) {
    const signal = await real.person.ok(get, { uid })
    const { status, history, archived, expired, links, merged, taken, resolved_by } = model.signal(at)
    const { status_history, ...metadata } = signal.metadata
    expect(status_history.map(({ from, to }) => `${from} ${to}`)).toEqual(history)
    expect(signal.status).toBe(status)
    expect(signal.linked_insight_ids.toSorted()).toEqual(links.map((each) => real.insights[each]).toSorted())
    expect(signal.visibility).toBe(model.visibility(at))
    expect(signal.merged_into).toBe(merged === undefined ? undefined : real.signals[merged])
    expect((signal.merged_signals ?? []).map(({ signal_id }) => signal_id)).toEqual(
      taken.map((each) => real.signals[each]),
    )
    expect(metadata.archived ?? false).toBe(archived)
    expect(metadata.expired_at !== undefined).toBe(expired)
    expect(metadata.resolved_by_insight).toBe(resolved_by && real.insights[resolved_by.insight])
    expect(metadata.resolved_by_edition).toBe(resolved_by && real.editions[resolved_by.insight]?.[resolved_by.edition])
  }
  for (const [at, uid] of real.insights.entries()) {
    const { state, links, ledger, merged } = model.insight(at)
    const insight = await real.person.ok(insightOf, { uid })
    expect(insight.state).toBe(state)
    expect(insight.linked_signal_ids).toEqual(links.map((each) => real.signals[each]))
    const stood = (insight.merged_signals ?? []).map((each) => [each.signal_id, each.merged_into])
    expect(stood.toSorted()).toEqual([...merged].map((pair) => pair.map((each) => real.signals[each])).toSorted())
    const { items } = await real.person.ok(ledgerOf, { uid, limit: 500 })
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, number) => number + 1))
    const described = items.map((event) => describeEvent(real, at, event))
    expect(described.toSorted()).toEqual(ledger.toSorted())
    for (const one of links) expect(selectEvents(one, described)).toEqual(selectEvents(one, ledger))
    if (state === 'closed') expect(described.at(-1)).toBe('insight_closed')
  }
}

const selectEvents = (at: number, words: readonly string[]) =>
  words.filter((word) => word.startsWith(`signal_disposition_set ${at} `))

function describeEvent({ signals, editions }: LifecycleSystem, insight: number, event: LedgerEvent): string {
  const { type } = event
  if (type === 'insight_opened') return `${type} ${signals.indexOf(event.signal_id)}`
  if (type === 'signal_linked') return `${type} ${signals.indexOf(event.signal_id)} ${event.status}`
  if (type === 'edition_attested') return `${type} ${editions[insight]?.indexOf(event.edition_id)}`
  if (type === 'signal_merged') return `${type} ${signals.indexOf(event.signal_id)} ${signals.indexOf(event.into)}`
  if (type === 'signal_unmerged') return `${type} ${signals.indexOf(event.signal_id)} ${signals.indexOf(event.from)}`
  if (type === 'signal_disposition_set') return `${type} ${signals.indexOf(event.signal_id)} ${event.from} ${event.to}`
  return type
}
