// Takes a webhook in: judged by its signature before a byte of it is parsed, then raised under what the profile says of its source.
import * as z from 'zod'
import { type VerifiedWebhook, verifyWebhookSignature } from '../../../kernel/cryptography/webhook-signature.ts'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call, SignedBody } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { resolveSource } from '../signal-source/resolve-source.ts'
import { buildRaiseInputs } from './item/rules.ts'
import { mapDocument, resolvePointer } from './mapping/rules.ts'
import { countIntake } from './metrics.ts'
import { rateWindowsPart, secretsPart, sourceTallyPart } from './parts.ts'
import { checkItemTimes, type RaisedSignal } from './raise-signal.ts'
import { max_failures } from './rate-windows.ts'
import { requestRaise } from './request-raise.ts'
import { intakeSettings, type WebhookSource } from './settings.ts'

export const deliver = operation({
  summary: 'Deliver a webhook of a configured source, signed by its secret',
  method: 'POST',
  path: '/api/v1/signal-intake/webhook/{source}',
  input: z.strictObject({ source: z.string().min(1).max(64) }),
  output: z.strictObject({ signals: z.array(uid) }).meta({ id: 'WebhookTaken' }),
  errors: ['signature_invalid', 'rate_limited', 'unavailable'],
  allow: 'public',
  signed: true,
  max_body_bytes: 131_072,

  async run(call, { source: name }) {
    const source = call.settings(intakeSettings).sources.find((each) => each.name === name && each.kind === 'webhook')
    const { signed_body } = call
    // A name that no source has is answered as one whose secret is not known: the names are nobody's business.
    if (source?.kind !== 'webhook' || !signed_body) return limitFailures(call, 'no source') ?? signatureRefusal
    const signed = await verifyDelivery(call, source, signed_body)
    const done = isRefusal(signed) ? signed : await takeInDelivery(call, source, signed_body, signed)
    if (isRefusal(done)) return recordFailedDelivery(call, source, isRefusal(signed) ? 'failed' : 'refused', done)
    const fresh = done.filter(({ is_new }) => is_new).length
    call.part(sourceTallyPart).recordSuccess(name, { taken: fresh, repeated: done.length - fresh }, call.nowIso())
    countIntake(call, name, 'taken', fresh)
    countIntake(call, name, 'repeated', done.length - fresh)
    return { signals: done.map((each) => each.uid) }
  },
})

const signatureRefusal = refuse('signature_invalid', 'the delivery has no valid signature of this source')

function recordFailedDelivery(call: Call, { name }: WebhookSource, as: 'refused' | 'failed', why: Refusal): Refusal {
  call.part(sourceTallyPart).recordFailure(name, as, why, call.nowIso())
  countIntake(call, name, as)
  return why
}

/** Who fails too often is told to wait, and no more of it is kept; what is rightly signed is not held up by that. */
async function verifyDelivery(
  call: Call,
  source: WebhookSource,
  { headers, bytes }: SignedBody,
): Promise<VerifiedWebhook | Refusal> {
  const { name, secret_files, window_s, max_per_minute } = source
  const secrets = await call.part(secretsPart).read(secret_files)
  if (isRefusal(secrets)) return secrets
  const signed = verifyWebhookSignature(secrets, headers, bytes)
  const isTimely = signed !== undefined && Math.abs(call.now() / 1_000 - signed.at_s) <= window_s
  if (signed === undefined || !isTimely) {
    const wait = limitFailures(call, `source ${name}`)
    if (wait) return wait
    return signed
      ? refuse(
          'signature_invalid',
          `the time of the signature is more than ${window_s} seconds from the clock of this site`,
        )
      : signatureRefusal
  }
  const wait_s = call.part(rateWindowsPart).countRequest(`deliveries of ${name}`, max_per_minute, call.monotonic())
  return wait_s > 0 ? refuseTooMany(wait_s) : signed
}

/** Why no more of what is not rightly signed is kept and audited for a while. */
function limitFailures(call: Call, of: string): Refusal | undefined {
  const wait_s = call.part(rateWindowsPart).countRequest(`failures of ${of}`, max_failures, call.monotonic())
  return wait_s > 0 ? refuseTooMany(wait_s) : undefined
}

function refuseTooMany(wait_s: number): Refusal {
  return new Refusal('rate_limited', 'the source exceeded its rate limit', [], wait_s)
}

/** All of it is understood before any of it is raised; what a broken-off delivery has left out comes with its repeat. */
async function takeInDelivery(
  call: Call,
  source: WebhookSource,
  { bytes, parse }: SignedBody,
  { delivery_id }: VerifiedWebhook,
): Promise<RaisedSignal[] | Refusal> {
  const document = parse()
  if (isRefusal(document)) return document
  const items = mapDocument(source.mapping, document)
  if (isRefusal(items)) return items
  const refused = checkItemTimes(call, items)
  if (refused) return refused
  const of = resolveSource(call, source)
  if (isRefusal(of)) return of
  const done: RaisedSignal[] = []
  for (const each of buildRaiseInputs(of, items, delivery_id ?? readDeliveryId(document) ?? sha256(bytes))) {
    const raised = await requestRaise(call, each)
    if (isRefusal(raised)) return raised
    done.push(raised)
  }
  return done
}

/** What this platform's own webhooks are known by. */
function readDeliveryId(document: unknown): string | undefined {
  const id = resolvePointer(document, '/id')
  return typeof id === 'string' && id !== '' && id.length <= 512 ? id : undefined
}
