// Shows the landing zone of a pipeline.
import { showDelay } from '../../../kernel/job/job-delay.ts'
import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { findWait, listSetsOf } from './deliver-sets.ts'
import { type LandingZoneView, landingZones } from './model.ts'
import { landingZoneFilesPart } from './zone-files.ts'

export async function showLandingZone(call: Call, id: string): Promise<{ landing_zone?: LandingZoneView }> {
  const doc = await call.store(landingZones).find(id)
  const zone = doc?.value
  if (!zone) return {}
  const { tenant_id, arrival, landed, duplicates, quarantined, last, fault } = zone
  const folder = call.part(landingZoneFilesPart).describe({ tenant_id, pipeline: id })
  const run = arrival?.sha256 === undefined ? {} : { dag_run_id: arrival.dag_run_id }
  const in_progress = arrival && { file: arrival.name, found_at: arrival.found_at, ...run }
  // A folder that cannot be used is the delay of the zone.
  const sets = await listSetsOf(call, doc).catch(() => [])
  // A set above the label of the pipeline does not exist for those who may not see it.
  const seen = sets.filter((set) => dominates(call.caller, set.label, call.site.labels))
  const incoming = seen.map((set) => {
    const { peer, name: dataset, set_id, parts, received, since_ms } = set
    const waits = findWait(call, zone, set)
    const since = new Date(since_ms).toISOString()
    return { ...{ peer, dataset, set_id, parts, received, since }, ...(waits && { waits }) }
  })
  return {
    landing_zone: {
      ...{ folder, landed, duplicates, quarantined },
      ...(in_progress && { in_progress }),
      ...(incoming.length > 0 && { incoming }),
      ...(last && { last }),
      ...(fault && { fault }),
      ...showDelay(zone),
    },
  }
}
