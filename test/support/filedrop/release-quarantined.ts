// Shared parts of the release and purge tests: items of the quarantine with the digests that people would sign.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { listQuarantine } from '../../../adapters/transport/filedrop/quarantine/quarantine-list.ts'
import { readQuarantinedItem } from '../../../adapters/transport/filedrop/quarantine/quarantined-item.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { WaivableReason } from '../../../daemon/kernel/messaging/release.ts'
import { type FiledropSites, listChannelFolders } from './filedrop-sites.ts'

const parcelLimits = { max_body_bytes: 4_194_304, max_envelope_bytes: 65_536 }

export function listQuarantineItems({ bravo }: FiledropSites) {
  return listQuarantine(bravo.root, 'alpha', 99).map(({ id, reason }) => {
    const name = id.slice('alpha/'.length)
    const files = readQuarantinedItem(bravo.root, 'alpha', name, parcelLimits)?.files ?? []
    const digests = ['body', 'env'].flatMap(
      (part) => files.find((each) => each.name.includes(`.${part}.`))?.sha384 ?? [],
    )
    return { id: name, reason, digests }
  })
}

export const approvalEvent: AuditEvent = {
  ...{ at: '2026-03-01T12:00:00Z', action: 'site.quarantine.approve', outcome: 'done', tenant_id: 't', subject: 's' },
  ...{ target: 'x', trace_id: '0', detail: {} },
}

/** As both people would have it: the one item that lies there, for the reason that it lies there for. */
export async function releaseQuarantined(
  sites: FiledropSites,
  label?: Label,
  more: { waiver?: WaivableReason; digests?: string[] } = {},
) {
  const [item] = listQuarantineItems(sites)
  if (!item) throw new Error('nothing is in quarantine')
  const waiver = item.reason as WaivableReason
  const refused = await sites.bravo.transport.custody.release('alpha', { ...item, waiver, label, ...more }, [
    approvalEvent,
  ])
  await sites.bravo.transport.rescan()
  return refused?.code
}

/** Names of all files in bravo's channel from alpha whose bytes have this digest. */
export function listFilesWithDigest({ bravo }: FiledropSites, sha384: string): string[] {
  return Object.values(listChannelFolders(bravo, 'alpha'))
    .slice(1)
    .flatMap((folder) => fs.readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => createHash('sha384').update(fs.readFileSync(path)).digest('hex') === sha384)
}
