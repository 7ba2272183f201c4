// Takes in a webhook: verifies its signature before parsing, then raises its signals under the settings of its
// source.
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
    // An unknown source gets the same answer as a wrong secret, so that names of sources are not disclosed.
    if (source?.kind !== 'webhook' || !signed_body) return limitFailures(call, 'no source') ?? signatureRefusal
    const signed = await verifyDelivery(call, source, signed_body)
    const results = isRefusal(signed) ? signed : await takeInDelivery(call, source, signed_body, signed)
    if (isRefusal(results)) return recordFailedDelivery(call, source, isRefusal(signed) ? 'failed' : 'refused', results)
    const new_count = results.filter(({ is_new }) => is_new).length
    call
      .part(sourceTallyPart)
      .recordSuccess(name, { taken: new_count, repeated: results.length - new_count }, call.nowIso())
    countIntake(call, 'webhook', 'taken', new_count)
    countIntake(call, 'webhook', 'repeated', results.length - new_count)
    return { signals: results.map((each) => each.uid) }
  },
})

const signatureRefusal = refuse('signature_invalid', 'the delivery has no valid signature of this source')

function recordFailedDelivery(
  call: Call,
  { name }: WebhookSource,
  as: 'refused' | 'failed',
  failure: Refusal,
): Refusal {
  call.part(sourceTallyPart).recordFailure(name, as, failure, call.nowIso())
  countIntake(call, 'webhook', as)
  return failure
}

/**
 * Verifies the signature of a delivery. Repeated failures are rate-limited and no longer recorded; valid deliveries
 * are not delayed by them.
 */
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
          `the time of the signature differs by more than ${window_s} seconds from the clock of this site`,
        )
      : signatureRefusal
  }
  const wait_s = call.part(rateWindowsPart).countRequest(`deliveries of ${name}`, max_per_minute, call.monotonic())
  return wait_s > 0 ? refuseTooMany(wait_s) : signed
}

/**
 * The refusal of further invalid deliveries for a while, so that they are neither stored nor audited; undefined
 * within the limit.
 */
function limitFailures(call: Call, origin: string): Refusal | undefined {
  const wait_s = call.part(rateWindowsPart).countRequest(`failures of ${origin}`, max_failures, call.monotonic())
  return wait_s > 0 ? refuseTooMany(wait_s) : undefined
}

function refuseTooMany(wait_s: number): Refusal {
  return new Refusal('rate_limited', 'the source exceeded its rate limit', [], wait_s)
}

/** Parses the whole delivery before it raises any signal. A repeat of an interrupted delivery raises the rest. */
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
  const refusal = checkItemTimes(call, items)
  if (refusal) return refusal
  const origin = resolveSource(call, source)
  if (isRefusal(origin)) return origin
  const results: RaisedSignal[] = []
  for (const each of buildRaiseInputs(origin, items, delivery_id ?? readDeliveryId(document) ?? sha256(bytes))) {
    const result = await requestRaise(call, each)
    if (isRefusal(result)) return result
    results.push(result)
  }
  return results
}

/** The delivery id in webhooks of this platform. */
function readDeliveryId(document: unknown): string | undefined {
  const id = resolvePointer(document, '/id')
  return typeof id === 'string' && id !== '' && id.length <= 512 ? id : undefined
}
