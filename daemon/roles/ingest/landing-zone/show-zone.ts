// Shows the landing zone of a pipeline.
import { showDelay } from '../../../kernel/job/job-delay.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { type LandingZoneView, landingZones } from './model.ts'
import { landingZoneFilesPart } from './zone-files.ts'

export async function showLandingZone(call: Call, id: string): Promise<{ landing_zone?: LandingZoneView }> {
  const zone = (await call.store(landingZones).find(id))?.value
  if (!zone) return {}
  const { tenant_id, arrival, landed, duplicates, quarantined, last, fault } = zone
  const folder = call.part(landingZoneFilesPart).describe({ tenant_id, pipeline: id })
  const run = arrival?.sha256 === undefined ? {} : { dag_run_id: arrival.dag_run_id }
  const in_progress = arrival && { file: arrival.name, found_at: arrival.found_at, ...run }
  return {
    landing_zone: {
      ...{ folder, landed, duplicates, quarantined },
      ...(in_progress && { in_progress }),
      ...(last && { last }),
      ...(fault && { fault }),
      ...showDelay(zone),
    },
  }
}
