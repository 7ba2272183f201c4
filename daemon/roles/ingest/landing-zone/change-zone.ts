// The landing zone of a pipeline in its deployments: opened for the person who deployed it, and closed with its last task.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { ingestLandingZone } from '../operator/ingest-landing-zone.ts'
import { landingZones } from './model.ts'
import { openedZone } from './rules.ts'
import { landingZoneFilesPart } from './zone-files.ts'

function readsLandingZone({ tasks }: AssembledDag): boolean {
  return tasks.some(({ operator }) => operator === ingestLandingZone.name)
}

export function refuseZoneOfEffect(dag: AssembledDag): Refusal | undefined {
  return readsLandingZone(dag) ? refuse('invalid', 'an effect has no landing zone: deploy a pipeline') : undefined
}

/** Follows the live DAG; repeatable. Throws the refusal of a principal or of a folder. */
export async function syncZone(call: Call, { id, value }: Doc<ManagedDag>, dag: AssembledDag): Promise<void> {
  const store = call.store(landingZones)
  if (!readsLandingZone(dag)) return await removeZone(call, id)
  const { tenant_id, label, dag_id } = value
  await call.part(landingZoneFilesPart).open({ tenant_id, pipeline: id })
  const principal = await call.delegation().store({ collection: landingZones.name, id })
  if (isRefusal(principal)) throw principal
  const owner = { tenant_id, label, created_by: call.caller.subject, updated_at: call.nowIso(), dag_id }
  const audit = [call.audited(call.address, id, { landing_zone: 'open' }, label)]
  const created = await store.create(id, openedZone(undefined, owner, principal, call.now()), audit)
  const doc =
    created === 'exists'
      ? (
          await store.update(id, ({ value: former }) => {
            return { next: openedZone(former, owner, principal, call.now()), answer: undefined, audit }
          })
        ).doc
      : created
  announceJob(call, landingZones, doc)
}

/** Its folders stay; files that have not landed are in quarantine then. */
export async function removeZone(call: Call, id: string): Promise<void> {
  const zone = await call.store(landingZones).find(id)
  if (!zone) return
  const files = call.part(landingZoneFilesPart)
  const place = { tenant_id: zone.value.tenant_id, pipeline: id }
  await files.abandon(place)
  await call.store(landingZones).remove(id)
  // Those that the site put there meanwhile.
  await files.abandon(place)
}
