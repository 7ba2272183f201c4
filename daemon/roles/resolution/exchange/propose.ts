// Proposes an exchange to a peer: what this site brings is kept, and nothing of it leaves before all have agreed.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { type FieldError, isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { classification, join, type Label } from '../../../kernel/label.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import type { Doc } from '../../../kernel/store.ts'
import { siteName } from '../../../kernel/transport.ts'
import { word } from '../fields.ts'
import { nodeRecords } from '../fusion-run/node-data.ts'
import { max_body_bytes } from '../fusion-run/opening.ts'
import { lensNamed } from '../lens/named.ts'
import type { StoredLens } from '../lens/stored.ts'
import { matchingOperation } from '../matching.ts'
import { settings } from '../settings.ts'
import { withSecret } from './agreeing.ts'
import { type Agreement, agreementDigest, faultsOf, sitesOf, terms } from './agreement.ts'
import { tooLarge } from './bounds.ts'
import { changeExchange } from './change.ts'
import type { OwnData } from './deeds.ts'
import { exchanges, exchangeView, isOver, type StoredExchange, shown } from './model.ts'
import { tooManyOpen } from './open-exchanges.ts'
import { keepOwn, lensOf, ownData } from './own-data.ts'
import { dropPieces } from './pieces.ts'

const input = z.strictObject({
  peer: siteName.meta({ description: 'The other party' }),
  lens_id: word.meta({ description: 'uid or name of the lens; the peer must have the same, word for word' }),
  lens_version: word.optional(),
  ...terms,
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
    const known = before && repeated(call, before)
    if (isRefused(known)) return known
    if (known && !isCutShort(known.value)) return shown(known)
    const draft = known ? await draftOf(call, known.value) : await drafted(call, id, chosen)
    if (isRefused(draft)) return draft
    const own = await ownData(call, call.caller.tenant_id, draft.agreement, draft.lens, data, call.signal)
    if (isRefused(own)) return own
    const made = known ?? (await created(call, draft, own.size))
    const done = isRefused(made) ? made : await kept(call, made, own)
    return isRefused(done) ? done : shown(done)
  },
})

type Draft = { readonly agreement: Agreement; readonly lens: Doc<StoredLens>; readonly label: Label }

async function drafted(
  call: Call,
  exchange_id: string,
  { peer, lens_id, lens_version, classification: given, ...chosen }: Omit<z.output<typeof input>, 'data'>,
): Promise<Draft | Refused> {
  const lens = await lensNamed(call, lens_id, lens_version)
  if (isRefused(lens)) return lens
  const agreement: Agreement = {
    exchange_id,
    lens: lens.value.lens,
    lens_version: lens.value.lens_version,
    lens_digest: lens.value.digest,
    parties: [call.site.name, peer],
    ...chosen,
  }
  const label = await labelOfExchange(call, given, lens, agreement)
  if (isRefused(label)) return label
  const refused = tooLarge(call.settings(settings), agreement)
  return refused ?? (await tooManyOpen(call, call.caller.tenant_id, peer, 0)) ?? { agreement, lens, label }
}

/** Of a request that was cut short, whose repeat this is. */
async function draftOf(call: Call, { agreement, label, tenant_id }: StoredExchange): Promise<Draft | Refused> {
  const lens = await lensOf(call, tenant_id, agreement)
  return isRefused(lens) ? lens : { agreement, lens, label }
}

/** Before its records are kept: none is ever here that no exchange owns. */
async function created(call: Call, { agreement, label }: Draft, size: number): Promise<Doc<StoredExchange> | Refused> {
  const id = agreement.exchange_id
  const audit = [call.audited('resolution.exchange.propose', id, { agreement, size }, label)]
  const made = await call.store(exchanges).create(id, opened(call, agreement, label), audit)
  return made === 'exists' ? repeated(call, await call.store(exchanges).get(id)) : made
}

/** From here on it is offered to the others. */
async function kept(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  own: OwnData,
): Promise<Doc<StoredExchange> | Refused> {
  const self = call.site.name
  const what = await keepOwn(call, value.tenant_id, id, own)
  const secret = call.random(32)
  const done = await changeExchange(call, id, 'resolution.exchange.kept', (current) => {
    if (!isCutShort(current)) return current
    const sizes = { ...current.sizes, [self]: own.size }
    return { ...current, ...withSecret(current, self, secret), own: what, sizes, owes: 1, updated_at: call.nowIso() }
  })
  // Cancelled meanwhile.
  if (!isRefused(done) && isOver(done.value)) await dropPieces(call, id)
  return done
}

/** Between the exchange and its records. */
function isCutShort({ state, own }: StoredExchange): boolean {
  return state === 'proposed' && own === undefined
}

function opened(call: Call, agreement: Agreement, label: Label): StoredExchange {
  const at = call.nowIso()
  return {
    tenant_id: call.caller.tenant_id,
    label,
    created_by: call.caller.subject,
    created_at: at,
    updated_at: at,
    agreement,
    agreement_digest: agreementDigest(agreement),
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
async function labelOfExchange(
  call: Call,
  given: Parameters<typeof labelFor>[1] | undefined,
  { value }: Doc<StoredLens>,
  agreement: Agreement,
): Promise<Label | Refused> {
  const faults: FieldError[] = faultsOf(agreement)
  for (const name of agreement.fields) {
    if (!value.body.fields.some((field) => field.name === name))
      faults.push({ path: 'fields', message: `${name} is no field of the lens` })
  }
  if (faults.length > 0) return refuse('invalid', 'this is nothing to agree on', faults)
  const own = labelFor(call, given ?? call.site.default_level)
  if (isRefused(own)) return own
  const joined = join(own, value.label, call.site.labels)
  const label = joined ? labelFor(call, joined) : refuse('label_denied', 'the lens is labelled by another policy')
  if (isRefused(label)) return label
  for (const site of sitesOf(agreement)) {
    const refused = site === call.site.name ? undefined : await call.others.mayCross(site, label)
    if (refused) return refused
  }
  return label
}

function repeated(call: Call, before: Doc<StoredExchange>): Doc<StoredExchange> | Refused {
  if (before.value.request_digest === call.requestDigest()) return before
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
