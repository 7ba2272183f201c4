// Gets one quarantined message with the digests of its files, and its release request if there is one.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { peersPart, quarantinesPart } from '../parts.ts'
import { findPendingDecisions } from './find-pending-release.ts'
import { itemFields, quarantineItem } from './model.ts'
import { isReleasable } from './rules.ts'
import { refuseNoSuchItem, releaseTargetOf } from './verify-release.ts'

export const get = operation({
  summary: 'Get a quarantined message with the digests of its files',
  method: 'GET',
  path: '/api/v2/site/quarantine/{peer}/{id}',
  input: z.strictObject(itemFields),
  output: quarantineItem,
  errors: ['not_found'],
  allow: 'quarantine:read',

  async run(call, { peer, id }) {
    const item = await call.part(quarantinesPart).get(peer, id)
    if (!item) return refuseNoSuchItem()
    const pinned = await call.part(peersPart).get(peer)
    return {
      ...item,
      site: call.site.name,
      is_releasable: isReleasable(releaseTargetOf(item, pinned?.tenant_id)),
      ...(pinned ? { sender_tenant_id: pinned.tenant_id } : {}),
      ...(await findPendingDecisions(call, item.id)),
    }
  },
})
