// Limits the open exchanges that a tenant has proposed to one peer: each stores records here and costs the peer work.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import { exchanges } from '../model.ts'

/**
 * Refuses an exchange above the limit. `among`: 1 if the count includes the exchange in question. A request counts the
 * exchanges that its caller may see; the worker, which sees all, checks again before the first message.
 */
export async function checkOpenExchanges(
  call: Call,
  tenant_id: string,
  peer: string,
  among: 0 | 1,
): Promise<Refusal | undefined> {
  const max_open = call.settings(settings).open_exchanges
  const open = { tenant_id, peer, part: 'proposer', state: { in: ['proposed', 'running'] } }
  const count = await call.store(exchanges).count(open)
  if (count - among < max_open) return undefined
  return refuse(
    'rate_limited',
    `${count - among} exchanges with ${peer} are open, and ${max_open} are allowed: cancel some, or wait until they end`,
  )
}
