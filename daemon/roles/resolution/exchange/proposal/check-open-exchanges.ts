// How many exchanges of its own proposal a tenant has open with one peer: each keeps records here and asks something of the peer.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import { exchanges } from '../model.ts'

/**
 * Why there are too many; `among`: how many of those that are counted are the one that is asked for. Whoever proposes is told
 * by what he may see; the worker, which sees all, has the last word before anything of it is said.
 */
export async function checkOpenExchanges(
  call: Call,
  tenant_id: string,
  peer: string,
  among: 0 | 1,
): Promise<Refusal | undefined> {
  const most = call.settings(settings).open_exchanges
  const open = { tenant_id, peer, part: 'proposer', state: { in: ['proposed', 'running'] } }
  const count = await call.store(exchanges).count(open)
  if (count - among < most) return undefined
  return refuse('rate_limited', `${most} exchanges with ${peer} are open: cancel some, or wait until they have ended`)
}
