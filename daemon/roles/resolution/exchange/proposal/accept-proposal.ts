// Agrees to a proposal, for a person or by a standing agreement; from then on this site performs its steps for them.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../../kernel/identity/delegation.ts'
import { wakeJob } from '../../../../kernel/job/rules.ts'
import { joinLabels, normaliseLabel } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { NodeRecords } from '../../fusion-run/node-data.ts'
import type { StoredLens } from '../../lens/stored-lens.ts'
import { findAgreedLens } from '../agreement/find-agreed-lens.ts'
import { changeExchange } from '../change-exchange.ts'
import { buildSecretFields, createExchangeSecret, type ExchangeSecret } from '../exchange-secret.ts'
import { exchanges, isOver, type StoredExchange } from '../model.ts'
import { dropPieces } from '../piece/piece-sets.ts'
import { checkPeerBudget } from './check-peer-budget.ts'
import { readOwnRecords, storeOwnRecords } from './own-records.ts'

/** `data`: the records of this site as a party; a linker has none. `agrees`: the caller, or the profile of the site. */
export type ProposalAcceptance = { readonly data: NodeRecords | undefined; readonly agrees: 'caller' | 'profile' }

/** Agrees to a proposal. The caller who agrees is the principal of the exchange at this site. */
export async function acceptProposal(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  { data, agrees }: ProposalAcceptance,
  signal: AbortSignal,
): Promise<Doc<StoredExchange> | Refusal> {
  const { agreement, part, tenant_id } = value
  if (part === 'proposer')
    return refuse('wrong_state', 'this site proposed the exchange: only the peer can agree to it')
  if (value.state !== 'proposed')
    return refuse('wrong_state', `the exchange is ${value.state}, and only a proposed one can be agreed to`)
  const refused = await checkPeerBudget(call, value)
  if (refused) return refused
  if (part === 'linker') {
    const principal = await storePrincipal(call, id, agrees)
    return isRefusal(principal) ? principal : await storeAcceptance(call, id, principal, {})
  }
  if (data === undefined)
    return refuse('invalid', 'the request has no records: a party must send its records in data', [
      { path: 'data', message: 'is required for a party' },
    ])
  const lens = await findAgreedLens(call, tenant_id, agreement)
  if (isRefusal(lens)) return lens
  const higher = refuseHigherLens(call, value, lens)
  if (higher) return higher
  const own = await readOwnRecords(call, tenant_id, agreement, lens, data, signal)
  if (isRefusal(own)) return own
  // Before the records: where it cannot be had, none of them stay.
  const principal = await storePrincipal(call, id, agrees)
  if (isRefusal(principal)) return principal
  const secret = await createExchangeSecret(call, tenant_id, agreement)
  const set_name = await storeOwnRecords(call, tenant_id, id, own)
  const accepted = await storeAcceptance(call, id, principal, { size: own.size, secret, own: set_name })
  // An exchange that ended meanwhile must not leave records behind.
  const current = isRefusal(accepted) ? await call.store(exchanges).find(id) : undefined
  if (current && isOver(current.value)) await dropPieces(call, id)
  return accepted
}

function refuseHigherLens(
  call: Call,
  { label, agreement }: StoredExchange,
  lens: Doc<StoredLens>,
): Refusal | undefined {
  const joined = joinLabels(label, lens.value.label, call.site.labels)
  if (joined && canonicalJson(joined) === canonicalJson(normaliseLabel(label))) return undefined
  return refuse(
    'label_denied',
    `the label of the lens ${agreement.lens} is above the label of the proposal: the peer must propose with a higher label`,
  )
}

type AcceptedExchangeFields = {
  readonly size?: number
  readonly secret?: ExchangeSecret | undefined
  readonly own?: string
}

async function storePrincipal(
  call: Call,
  id: string,
  agrees: ProposalAcceptance['agrees'],
): Promise<StoredPrincipal | Refusal | undefined> {
  return agrees === 'caller' ? await call.delegation().store({ collection: exchanges.name, id }) : undefined
}

async function storeAcceptance(
  call: Call,
  id: string,
  principal: StoredPrincipal | undefined,
  { size, secret, own }: AcceptedExchangeFields,
): Promise<Doc<StoredExchange> | Refusal> {
  const self = call.site.name
  return await changeExchange(call, id, 'resolution.exchange.agree', (current) => {
    if (current.state !== 'proposed')
      return refuse('wrong_state', `the exchange is ${current.state}, and only a proposed one can be agreed to`)
    const accepted: StoredExchange = {
      ...current,
      ...buildSecretFields(current, self, secret),
      ...(own === undefined ? {} : { own }),
      sizes: size === undefined ? current.sizes : { ...current.sizes, [self]: size },
      agreed: [...current.agreed, self],
      state: 'running',
      agreed_ts: call.now(),
      updated_at: call.nowIso(),
    }
    return wakeJob(accepted, call.now(), principal)
  })
}
