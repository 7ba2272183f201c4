// Whole datasets of peers go into the landing zone of the pipeline that takes them, as files of JSON lines.
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { pipelines } from '../datapipeline/model.ts'
import { ingestLandingZone, type PeerDataset } from '../operator/ingest-landing-zone.ts'
import { incomingSetsPart, type WaitingSet } from './incoming-sets.ts'
import type { StoredLandingZone } from './model.ts'

/** The dataset of a peer that the pipeline takes; undefined for one that carriers alone bring files to. */
async function findPeerDataset(call: Call, pipeline: string): Promise<PeerDataset | undefined> {
  const dag = (await call.store(pipelines).find(pipeline))?.value.dag
  const task = dag?.tasks.find(({ operator }) => operator === ingestLandingZone.name)
  return task && ingestLandingZone.params.safeParse(task.params).data?.from
}

/** Those that the pipeline waits for, or takes now. */
export async function listSetsOf(
  call: Call,
  { id, value: { tenant_id } }: Pick<Doc<StoredLandingZone>, 'id' | 'value'>,
): Promise<WaitingSet[]> {
  const from = await findPeerDataset(call, id)
  if (!from) return []
  const sets = await call.part(incomingSetsPart).list(tenant_id, from.peer)
  return sets.filter(({ name }) => name === from.dataset)
}

/** Why the set is not in the zone yet; undefined for one that may go there. */
export function findWait(call: Call, zone: StoredLandingZone, set: WaitingSet): 'parts' | 'label' | undefined {
  if (set.received < set.parts) return 'parts'
  return isCoveredBy(set.label, zone.label, call.site.labels) ? undefined : 'label'
}

/** Repeatable: the zone finds a file that it has landed before. */
export async function deliverSets(call: Call, zone: Doc<StoredLandingZone>): Promise<void> {
  const { id, value } = zone
  for (const set of await listSetsOf(call, zone)) {
    if (findWait(call, value, set)) continue
    const place = { tenant_id: value.tenant_id, pipeline: id }
    const outcome = await call.part(incomingSetsPart).deliver(value.tenant_id, set, place)
    const { peer, name, set_id, total_rows: rows } = set
    await call.record([
      call.audited('ingest.dataset.receive', id, { peer, dataset: name, set_id, rows, outcome }, set.label),
    ])
    if (outcome === 'differs') call.log.warn('ingest.dataset.differs', { pipeline: id, peer, dataset: name, set_id })
  }
}
