// Proposes an exchange to a peer. Stores the records of this site; they do not leave before all sites have agreed.
import * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { newJob, wakeJob } from '../../../kernel/job/rules.ts'
import { classification, type Label } from '../../../kernel/label/label.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { cryptographySettings } from '../../../kernel/settings/cryptography-settings.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { checkChannelTenant, checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { originId } from '../../../shared/origin-id/origin-id.ts'
import { text_form } from '../engine/text/text-form.ts'
import { shortText } from '../fields.ts'
import { inlineRecordLimits, nodeRecords } from '../fusion-run/node-data.ts'
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
import { checkCryptographyPolicy } from './agreement/check-cryptography-policy.ts'
import { checkSetLimits } from './agreement/check-set-limits.ts'
import { findAgreedLens } from './agreement/find-agreed-lens.ts'
import { changeExchange } from './change-exchange.ts'
import { buildSecretFields, createExchangeSecret } from './exchange-secret.ts'
import type { OwnRecordSet } from './job/exchange-jobs.ts'
import { exchanges, exchangeView, isOver, type StoredExchange, showExchange } from './model.ts'
import { dropPieces } from './piece/piece-sets.ts'
import { checkOpenExchanges } from './proposal/check-open-exchanges.ts'
import { readOwnRecords, storeOwnRecords } from './proposal/own-records.ts'

export const peerField = { peer: siteName.meta({ description: 'The other party' }) }

const input = z.strictObject({
  ...peerField,
  lens_id: shortText.meta({ description: 'uid or name of the lens; the peer must have an identical one' }),
  lens_version: shortText.optional(),
  ...exchangeTerms,
  data: nodeRecords.meta({ description: 'Records of this site, or {file}: the name of a data file of the tenant' }),
  classification: classification.optional(),
})

export const propose = matchingOperation({
  summary: 'Propose to a peer to resolve the records of both sites; no records leave before the peer has agreed',
  method: 'POST',
  path: '/api/v2/fusion/exchange',
  input,
  output: exchangeView,
  status: 202,
  errors: ['not_found', 'not_your_tenant', 'label_denied', 'over_budget', 'rate_limited', 'idempotency_mismatch'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  ...inlineRecordLimits,

  async run(call, request) {
    const proposed = await proposeExchange(call, request)
    return isRefusal(proposed) ? proposed : showExchange(proposed)
  },
})

/** Proposes an exchange for the caller. A repeated request returns the exchange that it proposed. */
export async function proposeExchange(
  call: Call,
  { data, ...request }: z.output<typeof input>,
): Promise<Doc<StoredExchange> | Refusal> {
  const outsider = checkChannelTenant(call, call.caller.tenant_id)
  if (outsider) return outsider
  const id = originId('xchg', call.site.name, call.newId('xchg').slice('xchg_'.length))
  const before = await call.store(exchanges).find(id)
  const repeated = before && checkRepeatedRequest(call, before)
  if (isRefusal(repeated)) return repeated
  if (repeated && !isInterrupted(repeated.value)) return repeated
  const draft = repeated ? await restoreDraft(call, repeated.value) : await draftExchange(call, id, request)
  if (isRefusal(draft)) return draft
  const own = await readOwnRecords(call, call.caller.tenant_id, draft.agreement, draft.lens, data, call.signal)
  if (isRefusal(own)) return own
  const created = repeated ?? (await createExchange(call, draft, own.size))
  return isRefusal(created) ? created : await storeRecordsAndOffer(call, created, own)
}

type ExchangeDraft = { readonly agreement: ExchangeAgreement; readonly lens: Doc<StoredLens>; readonly label: Label }

async function draftExchange(
  call: Call,
  exchange_id: string,
  { peer, lens_id, lens_version, classification: requested, ...terms }: Omit<z.output<typeof input>, 'data'>,
): Promise<ExchangeDraft | Refusal> {
  const lens = await findLens(call, lens_id, lens_version)
  if (isRefusal(lens)) return lens
  const agreement: ExchangeAgreement = {
    exchange_id,
    lens: lens.value.lens,
    lens_version: lens.value.lens_version,
    lens_digest: lens.value.digest,
    parties: [call.site.name, peer],
    ...terms,
    text_form,
  }
  const label = await labelExchange(call, requested, lens, agreement)
  if (isRefusal(label)) return label
  const refused =
    checkCryptographyPolicy(call.settings(cryptographySettings), agreement) ??
    checkSetLimits(call.settings(settings), agreement)
  return refused ?? (await checkOpenExchanges(call, call.caller.tenant_id, peer, 0)) ?? { agreement, lens, label }
}

/** Restores the draft of a request that was interrupted and is now repeated. */
async function restoreDraft(
  call: Call,
  { agreement, label, tenant_id }: StoredExchange,
): Promise<ExchangeDraft | Refusal> {
  const lens = await findAgreedLens(call, tenant_id, agreement)
  return isRefusal(lens) ? lens : { agreement, lens, label }
}

/** Creates the exchange before its records are stored, so that every stored piece belongs to an exchange. */
async function createExchange(
  call: Call,
  { agreement, label }: ExchangeDraft,
  size: number,
): Promise<Doc<StoredExchange> | Refusal> {
  const id = agreement.exchange_id
  const audit = [call.audited('resolution.exchange.propose', id, { agreement, size }, label)]
  const principal = await call.delegation().store({ collection: exchanges.name, id })
  if (isRefusal(principal)) return principal
  const value = { ...buildProposedExchange(call, agreement, label), ...newJob(principal, undefined) }
  const created = await call.store(exchanges).create(id, value, audit)
  return created === 'exists' ? checkRepeatedRequest(call, await call.store(exchanges).get(id)) : created
}

/** Stores the records of this site; from then on the job offers the exchange to the other sites. */
async function storeRecordsAndOffer(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  own: OwnRecordSet,
): Promise<Doc<StoredExchange> | Refusal> {
  const self = call.site.name
  const secret = await createExchangeSecret(call, value.tenant_id, value.agreement)
  const set = await storeOwnRecords(call, value.tenant_id, id, own)
  const changed = await changeExchange(call, id, 'resolution.exchange.kept', (current) => {
    if (!isInterrupted(current)) return current
    const sizes = { ...current.sizes, [self]: own.size }
    const offered: StoredExchange = {
      ...current,
      ...buildSecretFields(current, self, secret),
      own: set,
      sizes,
      updated_at: call.nowIso(),
    }
    return wakeJob(offered, call.now())
  })
  // The exchange may have been cancelled while its records were written.
  if (!isRefusal(changed) && isOver(changed.value)) await dropPieces(call, id)
  return changed
}

/** Whether the request ended after it created the exchange and before it stored the records. */
function isInterrupted({ state, own }: StoredExchange): boolean {
  return state === 'proposed' && own === undefined
}

function buildProposedExchange(
  call: Call,
  agreement: ExchangeAgreement,
  label: Label,
): Omit<StoredExchange, keyof JobFields> {
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
    to_tell: [],
    told: [],
    peer: agreement.parties[1],
    agreed_ts: 0,
  }
}

/** Joins the labels of the records and the lens. Refuses a label that may not cross to every site. */
async function labelExchange(
  call: Call,
  requested: z.output<typeof classification> | undefined,
  lens: Doc<StoredLens>,
  agreement: ExchangeAgreement,
): Promise<Label | Refusal> {
  const faults: FieldError[] = findTermFaults(agreement)
  for (const name of agreement.fields) {
    if (!lens.value.body.fields.some((field) => field.name === name))
      faults.push({ path: 'fields', message: `${name} is not a field of the lens` })
  }
  if (faults.length > 0) return refuse('invalid', 'the proposed terms are not valid', faults)
  const label = labelWithLens(call, requested, lens)
  if (isRefusal(label)) return label
  for (const site of listSites(agreement)) {
    const refused = site === call.site.name ? undefined : await checkCrossing(call, site, label)
    if (refused) return refused
  }
  return label
}
