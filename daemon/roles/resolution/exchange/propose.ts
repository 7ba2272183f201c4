// Proposes an exchange to a peer: what this site brings is kept, and nothing of it leaves before all have agreed.
import * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { classification, type Label } from '../../../kernel/label/label.ts'
import { siteName } from '../../../kernel/messaging/transport.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { shortText } from '../fields.ts'
import { nodeRecords } from '../fusion-run/node-data.ts'
import { max_body_bytes } from '../fusion-run/open-run.ts'
import { labelWithLens } from '../label-with-lens.ts'
import { findLens } from '../lens/find-lens.ts'
import type { StoredLens } from '../lens/stored-lens.ts'
import { matchingOperation } from '../matching.ts'
import { settings } from '../settings.ts'
import {
  computeAgreementDigest,
  type ExchangeAgreement,
  exchangeTerms,
  findTermFaults,
  listSites,
} from './agreement/agreement.ts'
import { checkSetLimits } from './agreement/check-set-limits.ts'
import { findAgreedLens } from './agreement/find-agreed-lens.ts'
import { changeExchange } from './change-exchange.ts'
import type { OwnRecordSet } from './job/exchange-jobs.ts'
import { exchanges, exchangeView, isOver, type StoredExchange, showExchange } from './model.ts'
import { dropPieces } from './piece/piece-sets.ts'
import { buildSecretFields } from './proposal/accept-proposal.ts'
import { checkOpenExchanges } from './proposal/check-open-exchanges.ts'
import { readOwnRecords, storeOwnRecords } from './proposal/own-records.ts'

const input = z.strictObject({
  peer: siteName.meta({ description: 'The other party' }),
  lens_id: shortText.meta({ description: 'uid or name of the lens; the peer must have the same, word for word' }),
  lens_version: shortText.optional(),
  ...exchangeTerms,
  data: nodeRecords.meta({ description: 'What this site brings: records, or {file}, a data file of the tenant' }),
  classification: classification.optional(),
})

export const propose = matchingOperation({
  summary: 'Propose to a peer to find who is who over both sites; nothing leaves before it has agreed',
  method: 'POST',
  path: '/api/v2/fusion/exchange',
  input,
  output: exchangeView,
  status: 202,
  errors: ['not_found', 'label_denied', 'over_budget', 'rate_limited', 'idempotency_mismatch'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  max_body_bytes,

  async run(call, { data, ...chosen }) {
    const id = call.newId('xchg')
    const before = await call.store(exchanges).find(id)
    const known = before && checkRepeatedRequest(call, before)
    if (isRefusal(known)) return known
    if (known && !isInterrupted(known.value)) return showExchange(known)
    const draft = known ? await restoreDraft(call, known.value) : await draftExchange(call, id, chosen)
    if (isRefusal(draft)) return draft
    const own = await readOwnRecords(call, call.caller.tenant_id, draft.agreement, draft.lens, data, call.signal)
    if (isRefusal(own)) return own
    const made = known ?? (await createExchange(call, draft, own.size))
    const done = isRefusal(made) ? made : await storeRecordsAndOffer(call, made, own)
    return isRefusal(done) ? done : showExchange(done)
  },
})

type ExchangeDraft = { readonly agreement: ExchangeAgreement; readonly lens: Doc<StoredLens>; readonly label: Label }

async function draftExchange(
  call: Call,
  exchange_id: string,
  { peer, lens_id, lens_version, classification: requested, ...chosen }: Omit<z.output<typeof input>, 'data'>,
): Promise<ExchangeDraft | Refusal> {
  const lens = await findLens(call, lens_id, lens_version)
  if (isRefusal(lens)) return lens
  const agreement: ExchangeAgreement = {
    exchange_id,
    lens: lens.value.lens,
    lens_version: lens.value.lens_version,
    lens_digest: lens.value.digest,
    parties: [call.site.name, peer],
    ...chosen,
  }
  const label = await labelExchange(call, requested, lens, agreement)
  if (isRefusal(label)) return label
  const refused = checkSetLimits(call.settings(settings), agreement)
  return refused ?? (await checkOpenExchanges(call, call.caller.tenant_id, peer, 0)) ?? { agreement, lens, label }
}

/** Of a request that was cut short, whose repeat this is. */
async function restoreDraft(
  call: Call,
  { agreement, label, tenant_id }: StoredExchange,
): Promise<ExchangeDraft | Refusal> {
  const lens = await findAgreedLens(call, tenant_id, agreement)
  return isRefusal(lens) ? lens : { agreement, lens, label }
}

/** Before its records are kept: none is ever here that no exchange owns. */
async function createExchange(
  call: Call,
  { agreement, label }: ExchangeDraft,
  size: number,
): Promise<Doc<StoredExchange> | Refusal> {
  const id = agreement.exchange_id
  const audit = [call.audited('resolution.exchange.propose', id, { agreement, size }, label)]
  const made = await call.store(exchanges).create(id, buildProposedExchange(call, agreement, label), audit)
  return made === 'exists' ? checkRepeatedRequest(call, await call.store(exchanges).get(id)) : made
}

/** From here on it is offered to the others. */
async function storeRecordsAndOffer(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  own: OwnRecordSet,
): Promise<Doc<StoredExchange> | Refusal> {
  const self = call.site.name
  const what = await storeOwnRecords(call, value.tenant_id, id, own)
  const secret = call.random(32)
  const done = await changeExchange(call, id, 'resolution.exchange.kept', (current) => {
    if (!isInterrupted(current)) return current
    const sizes = { ...current.sizes, [self]: own.size }
    return {
      ...current,
      ...buildSecretFields(current, self, secret),
      own: what,
      sizes,
      owes: 1,
      updated_at: call.nowIso(),
    }
  })
  // Cancelled meanwhile.
  if (!isRefusal(done) && isOver(done.value)) await dropPieces(call, id)
  return done
}

/** Between the exchange and its records. */
function isInterrupted({ state, own }: StoredExchange): boolean {
  return state === 'proposed' && own === undefined
}

function buildProposedExchange(call: Call, agreement: ExchangeAgreement, label: Label): StoredExchange {
  const at = call.nowIso()
  return {
    tenant_id: call.caller.tenant_id,
    label,
    created_by: call.caller.subject,
    created_at: at,
    updated_at: at,
    agreement,
    agreement_digest: computeAgreementDigest(agreement),
    part: 'proposer',
    state: 'proposed',
    sizes: {},
    agreed: [],
    request_digest: call.requestDigest(),
    keys: {},
    step: 0,
    heard: 0,
    owes: 0,
    to_tell: [],
    told: [],
    peer: agreement.parties[1],
    agreed_ts: 0,
  }
}

/** What goes to and fro is about records that the lens sees: its label is that of both, and must be allowed to every site. */
async function labelExchange(
  call: Call,
  requested: z.output<typeof classification> | undefined,
  lens: Doc<StoredLens>,
  agreement: ExchangeAgreement,
): Promise<Label | Refusal> {
  const faults: FieldError[] = findTermFaults(agreement)
  for (const name of agreement.fields) {
    if (!lens.value.body.fields.some((field) => field.name === name))
      faults.push({ path: 'fields', message: `${name} is no field of the lens` })
  }
  if (faults.length > 0) return refuse('invalid', 'this is nothing to agree on', faults)
  const label = labelWithLens(call, requested, lens)
  if (isRefusal(label)) return label
  for (const site of listSites(agreement)) {
    const refused = site === call.site.name ? undefined : await call.roles.mayCross(site, label)
    if (refused) return refused
  }
  return label
}
