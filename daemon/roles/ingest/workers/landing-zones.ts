// Looks for files and datasets of peers in the landing zones, and removes what they have kept for long enough.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { isJobIdle, wakeJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { deliverSets } from '../landing-zone/deliver-sets.ts'
import { incomingSetsPart } from '../landing-zone/incoming-sets.ts'
import { landingZones, type StoredLandingZone } from '../landing-zone/model.ts'
import { landingZoneFilesPart } from '../landing-zone/zone-files.ts'

export const landingZoneWatch: Worker = { name: 'landing-zones', when: { every_ms: 5_000 }, run: watch }

export const landingZonePurge: Worker = { name: 'landing-zone-purge', when: { every_ms: 3_600_000 }, run: purge }

async function watch(call: Call): Promise<void> {
  await visitZones(call, async (zone) => {
    await wakeForFile(call, zone)
    await deliverSets(call, zone)
  })
}

async function wakeForFile(call: Call, { id, value }: Doc<StoredLandingZone>): Promise<void> {
  if (!isJobIdle(value)) return
  // The job shows why it cannot use the folders, and tries again ever more seldom.
  const place = { tenant_id: value.tenant_id, pipeline: id }
  const waiting = await call
    .part(landingZoneFilesPart)
    .findWaiting(place)
    .catch(() => 'unknown')
  if (waiting === undefined) return
  const { doc } = await call.store(landingZones).update(id, ({ value: zone }) => {
    return { next: wakeJob(zone, call.now()), answer: undefined }
  })
  announceJob(call, landingZones, doc)
}

async function purge(call: Call): Promise<void> {
  await visitZones(call, async ({ id, value }) => {
    const files = await call.part(landingZoneFilesPart).purge({ tenant_id: value.tenant_id, pipeline: id })
    if (files > 0) call.log.info('ingest.landing-zone.purged', { pipeline: id, files })
  })
  for (const { peer, name: dataset, set_id, parts, received } of await call
    .part(incomingSetsPart)
    .purge(call.site.tenant_id))
    call.log.warn('ingest.dataset.expired', { peer, dataset, set_id, parts, received })
}

/** One zone that fails must not hold up those after it. */
async function visitZones(call: Call, visit: (zone: Doc<StoredLandingZone>) => Promise<void>): Promise<void> {
  for await (const zone of iterateDocuments(call.store(landingZones), { fresh: true })) {
    if (call.signal.aborted) return
    await visit(zone).catch((error: unknown) => {
      if (isRefusal(error) && error.code === 'not_found') return
      call.log.error('ingest.landing-zone.unusable', { pipeline: zone.id, error: String(error) })
    })
  }
}
