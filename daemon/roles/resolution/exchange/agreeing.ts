// Agrees to a proposal, for a person or by the profile: from then on this site takes its steps.
import { publicKeyOf } from '../../../kernel/agreed-key.ts'
import type { Call } from '../../../kernel/call.ts'
import { canonical } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { join, normal } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { NodeRecords } from '../fusion-run/node-data.ts'
import { overBudget } from './budget.ts'
import { changeExchange } from './change.ts'
import { exchanges, isOver, type StoredExchange } from './model.ts'
import { keepOwn, lensOf, ownData } from './own-data.ts'
import { dropPieces } from './pieces.ts'

/** `data`: of a party; a linker has none. The same again changes nothing. */
export async function agreeTo(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  data: NodeRecords | undefined,
  signal: AbortSignal,
): Promise<Doc<StoredExchange> | Refused> {
  const { agreement, part, tenant_id } = value
  if (part === 'proposer') return refuse('wrong_state', 'this site has proposed it: the peer is asked')
  if (value.state !== 'proposed') return refuse('wrong_state', `the exchange is ${value.state}`)
  const refused = await overBudget(call, value)
  if (refused) return refused
  if (part === 'linker') return await agreed(call, id, {})
  if (data === undefined)
    return refuse('invalid', 'a party brings records', [{ path: 'data', message: 'must be there' }])
  const lens = await lensOf(call, tenant_id, agreement)
  if (isRefused(lens)) return lens
  const joined = join(value.label, lens.value.label, call.site.labels)
  if (!joined || canonical(joined) !== canonical(normal(value.label)))
    return refuse('label_denied', `what ${agreement.lens} sees is labelled above what is proposed`)
  const own = await ownData(call, tenant_id, agreement, lens, data, signal)
  if (isRefused(own)) return own
  const kept = await keepOwn(call, tenant_id, id, own)
  const done = await agreed(call, id, { size: own.size, secret: call.random(32), own: kept })
  // Records of what was declined or ended meanwhile are not kept.
  const now = isRefused(done) ? await call.store(exchanges).find(id) : undefined
  if (now && isOver(now.value)) await dropPieces(call, id)
  return done
}

type Own = { readonly size?: number; readonly secret?: string; readonly own?: string }

async function agreed(call: Call, id: string, { size, secret, own }: Own): Promise<Doc<StoredExchange> | Refused> {
  const self = call.site.name
  return await changeExchange(call, id, 'resolution.exchange.agree', (current) => {
    if (current.state !== 'proposed') return refuse('wrong_state', `the exchange is ${current.state}`)
    return {
      ...current,
      ...withSecret(current, self, secret),
      ...(own === undefined ? {} : { own }),
      sizes: size === undefined ? current.sizes : { ...current.sizes, [self]: size },
      agreed: [...current.agreed, self],
      state: 'running',
      agreed_ts: call.now(),
      owes: 1,
      updated_at: call.nowIso(),
    }
  })
}

/** Fresh for each run; of vectors the public key goes to the other party. */
export function withSecret(
  { agreement, keys }: Pick<StoredExchange, 'agreement' | 'keys'>,
  self: string,
  secret: string | undefined,
): Pick<StoredExchange, 'secret' | 'keys'> {
  if (secret === undefined || agreement.privacy === 'none') return { keys }
  if (agreement.privacy === 'psi') return { secret, keys }
  return { secret, keys: { ...keys, [self]: publicKeyOf(Buffer.from(secret, 'hex')) } }
}
