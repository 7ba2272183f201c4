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
import { withSecret } from './agreeing.ts'
import { type Agreement, agreementDigest, faultsOf, sitesOf, terms } from './agreement.ts'
import { exchanges, exchangeView, type StoredExchange, shown } from './model.ts'
import { keepOwn, ownData } from './own-data.ts'

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
  errors: ['not_found', 'label_denied', 'idempotency_mismatch'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  max_body_bytes,

  async run(call, { peer, lens_id, lens_version, data, classification: given, ...chosen }) {
    const id = call.newId('xchg')
    const before = await call.store(exchanges).find(id)
    if (before) return repeated(call, before)
    const lens = await lensNamed(call, lens_id, lens_version)
    if (isRefused(lens)) return lens
    const agreement: Agreement = {
      exchange_id: id,
      lens: lens.value.lens,
      lens_version: lens.value.lens_version,
      lens_digest: lens.value.digest,
      parties: [call.site.name, peer],
      ...chosen,
    }
    const label = await labelOfExchange(call, given, lens, agreement)
    if (isRefused(label)) return label
    const own = await ownData(call, call.caller.tenant_id, agreement, lens, data)
    if (isRefused(own)) return own
    const kept = await keepOwn(call, call.caller.tenant_id, id, own)
    const value = { ...opened(call, agreement, label, own.size), own: kept }
    const audit = [call.audited('resolution.exchange.propose', id, { agreement, size: own.size }, label)]
    const made = await call.store(exchanges).create(id, value, audit)
    if (made === 'exists') return repeated(call, await call.store(exchanges).get(id))
    call.wake('exchanges')
    return shown(made)
  },
})

function opened(call: Call, agreement: Agreement, label: Label, size: number): StoredExchange {
  const self = call.site.name
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
    sizes: { [self]: size },
    agreed: [],
    request_digest: call.requestDigest(),
    ...withSecret({ agreement, keys: {} }, self, call.random(32)),
    step: 0,
    heard: 0,
    owes: 1,
    to_tell: [],
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

function repeated(call: Call, before: Doc<StoredExchange>) {
  if (before.value.request_digest === call.requestDigest()) return shown(before)
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
