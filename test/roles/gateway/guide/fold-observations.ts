// The graphs that a list of stored observations leads to, folded by a process that was never killed.
import type { Store } from '../../../../daemon/kernel/store/store.ts'
import { followEvent } from '../../../../daemon/roles/gateway/guide/graph/follow-event.ts'
import { GraphPlan } from '../../../../daemon/roles/gateway/guide/graph/plan.ts'
import { observations, type StoredObservation } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { copyOf, openGuideStore, startGuide } from './graph-world.ts'

/** In the order in which they were applied. */
export async function listStored(store: Store): Promise<StoredObservation[]> {
  const stored: StoredObservation[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(observations, { limit: 500, fresh: true, ...(cursor ? { cursor } : {}) })
    stored.push(...page.docs.map(({ value }) => value))
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return stored.sort((one, other) => one.batch_seq - other.batch_seq || one.batch_at - other.batch_at)
}

export async function foldObservations(stored: readonly StoredObservation[]): Promise<Record<string, unknown>> {
  const { call, book } = startGuide(openGuideStore())
  for (const [seq, batch] of Map.groupBy(stored, ({ batch_seq }) => batch_seq)) {
    const plan = new GraphPlan(book.admits, book.admitsEdge)
    for (const event of batch) followEvent(plan, book.memory, event)
    await book.apply(call, { nodes: [...plan.nodes.values()], edges: [...plan.edges.values()] }, seq)
  }
  return copyOf(book)
}

/** The times of the writes differ. */
export function withoutTimes(graphs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(graphs).map(([id, value]) => [id, { ...(value as object), uds: 0, create_ts: 0, update_ts: 0 }]),
  )
}
