// Takes a webhook in: judged by its signature before a byte of it is parsed, then raised under what the profile says of its source.
import * as z from 'zod'
import type { Call, Delivery } from '../../../../kernel/call.ts'
import { sha256 } from '../../../../kernel/canonical.ts'
import { isRefused, Refused, refuse } from '../../../../kernel/errors.ts'
import { operation } from '../../../../kernel/operation.ts'
import { type Signed, signedBy } from '../../../../kernel/webhook-signature.ts'
import { uid } from '../../fields.ts'
import { raisingsOf } from '../item/rules.ts'
import { mappedAll, pointed } from '../mapping/rules.ts'
import { counted } from '../metrics.ts'
import { secretsPart, tallyPart, windowsPart } from '../parts.ts'
import { orRefused, type RaisedSignal, raise, raisedSignal, untimely } from '../raise.ts'
import { intakeSettings, type WebhookSource } from '../settings.ts'
import { settled } from '../source/settled.ts'
import { most_failures } from './windows.ts'

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
    const { delivery } = call
    // A name that no source has is answered as one whose secret is not known: the names are nobody's business.
    if (source?.kind !== 'webhook' || !delivery) return stranger(call, 'no source') ?? unsigned
    const signed = await judged(call, source, delivery)
    const done = isRefused(signed) ? signed : await taken(call, source, delivery, signed)
    if (isRefused(done)) return noted(call, source, isRefused(signed) ? 'failed' : 'refused', done)
    const fresh = done.filter(({ is_new }) => is_new).length
    call.part(tallyPart).succeeded(name, { taken: fresh, repeated: done.length - fresh }, call.nowIso())
    counted(call, name, 'taken', fresh)
    counted(call, name, 'repeated', done.length - fresh)
    return { signals: done.map((each) => each.uid) }
  },
})

const unsigned = refuse('signature_invalid', 'the delivery carries no valid signature of this source')

function noted(call: Call, { name }: WebhookSource, as: 'refused' | 'failed', why: Refused): Refused {
  call.part(tallyPart).failed(name, as, why, call.nowIso())
  counted(call, name, as)
  return why
}

/** Who fails too often is told to wait, and no more of it is kept; what is rightly signed is not held up by that. */
async function judged(call: Call, source: WebhookSource, { headers, bytes }: Delivery): Promise<Signed | Refused> {
  const { name, secret_files, window_s, max_per_minute } = source
  const secrets = await call.part(secretsPart).read(secret_files)
  if (isRefused(secrets)) return secrets
  const signed = signedBy(secrets, headers, bytes)
  const isTimely = signed !== undefined && Math.abs(call.now() / 1_000 - signed.at_s) <= window_s
  if (signed === undefined || !isTimely) {
    const wait = stranger(call, `source ${name}`)
    if (wait) return wait
    return signed ? refuse('signature_invalid', `the signature is not of the last ${window_s} seconds`) : unsigned
  }
  const wait_s = call.part(windowsPart).wait_s(`deliveries of ${name}`, max_per_minute, call.monotonic())
  return wait_s > 0 ? tooMany(wait_s) : signed
}

/** Why no more of what is not rightly signed is kept and audited for a while. */
function stranger(call: Call, of: string): Refused | undefined {
  const wait_s = call.part(windowsPart).wait_s(`failures of ${of}`, most_failures, call.monotonic())
  return wait_s > 0 ? tooMany(wait_s) : undefined
}

function tooMany(wait_s: number): Refused {
  return new Refused('rate_limited', 'this source sends more than it may', [], wait_s)
}

/** All of it is understood before any of it is raised; what a broken-off delivery has left out comes with its repeat. */
async function taken(
  call: Call,
  source: WebhookSource,
  { bytes, parse }: Delivery,
  { delivery_id }: Signed,
): Promise<RaisedSignal[] | Refused> {
  const said = parse()
  if (isRefused(said)) return said
  const items = mappedAll(source.mapping, said)
  if (isRefused(items)) return items
  for (const { fields } of items) {
    const refused = untimely(call, fields)
    if (refused) return refused
  }
  const of = settled(call, source)
  if (isRefused(of)) return of
  const done: RaisedSignal[] = []
  for (const each of raisingsOf(of, items, delivery_id ?? idIn(said) ?? sha256(bytes))) {
    const answer = await orRefused(call.others.ask(raise, each))
    if (isRefused(answer)) return answer
    done.push(raisedSignal.parse(answer))
  }
  return done
}

/** What this platform's own webhooks are known by. */
function idIn(said: unknown): string | undefined {
  const id = pointed(said, '/id')
  return typeof id === 'string' && id !== '' && id.length <= 512 ? id : undefined
}
