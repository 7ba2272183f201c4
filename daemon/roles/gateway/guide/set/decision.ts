// The decision that each of two administrators signs to accept artifacts of a set, and the rules by which two signatures are one decision.
import * as z from 'zod'
import { type Jws, jws } from '../../../../kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../../kernel/encoding/canonical-json.ts'
import { parseExactJson } from '../../../../kernel/encoding/parse-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { hex96 } from '../../../../kernel/messaging/statement.ts'
import { max_set_artifacts } from './format.ts'

const decisionFields = {
  v: z.literal(1),
  type: z.literal('platform.guidance-acceptance'),
  site: z.string().min(1).max(64),
  tenant_id: z.string().min(1).max(128),
  set: z.string().min(1).max(64),
  digest: hex96.meta({ description: 'SHA-384 of the manifest, which names each artifact by its digest' }),
  artifacts: z
    .array(z.int().min(1).max(max_set_artifacts))
    .min(1)
    .max(max_set_artifacts)
    .meta({ description: 'Numbers of the accepted artifacts, in ascending order' }),
  reason: z.string().min(1).max(1_000),
  subject: z.string().min(1).max(256),
  created: z.iso.datetime(),
}

export const acceptanceRequest = z.strictObject({ ...decisionFields, step: z.literal('request') })
export type AcceptanceRequest = z.infer<typeof acceptanceRequest>

export const acceptanceApproval = z.strictObject({
  ...decisionFields,
  step: z.literal('approval'),
  request: hex96.meta({ description: 'SHA-384 of the payload of the request' }),
})
export type AcceptanceApproval = z.infer<typeof acceptanceApproval>
export type SetDecision = AcceptanceRequest | AcceptanceApproval

/** The signature of one person with one key. */
export const decisionSignature = jws
  .extend({ signatures: jws.shape.signatures.length(1) })
  .meta({ id: 'GuidanceDecisionSignature', description: 'JWS with the signature of one administrator' })

/** The bytes to sign, as text. */
export function decisionPayload(decision: SetDecision): string {
  return canonicalJson(decision)
}

/** The signed content, unverified; undefined for text that is not such content in canonical JSON. */
export function parseDecision<T extends SetDecision>(schema: z.ZodType<T>, { payload }: Jws): T | undefined {
  const value = parseExactJson(Buffer.from(payload, 'base64url'), canonicalJson)
  const { data } = schema.safeParse(value)
  return data && decisionPayload(data) === canonicalJson(value) ? data : undefined
}

/** The set to decide about, and the site that holds it. */
export type DecisionTarget = {
  readonly site: string
  readonly tenant_id: string
  readonly set: string
  readonly digest: string
  readonly artifacts: number
  /** Epoch milliseconds. */
  readonly now: number
  readonly lifetime_ms: number
}

const skew_ms = 300_000

/** Refuses a decision about something else, or that is not valid now. */
export function checkDecision(decision: SetDecision, target: DecisionTarget): Refusal | undefined {
  const { site, tenant_id, set, digest, artifacts, created } = decision
  if (site !== target.site || tenant_id !== target.tenant_id || set !== target.set)
    return refuse('signature_invalid', 'this was signed for another site, tenant or set')
  if (digest !== target.digest) return refuse('conflict', 'the set differs from the digest that was signed')
  if (artifacts.some((number, at) => number > target.artifacts || number <= (artifacts[at - 1] ?? 0)))
    return refuse('invalid', 'the artifacts must be numbers of the set, each once, in ascending order')
  const created_ms = Date.parse(created)
  if (created_ms > target.now + skew_ms)
    return refuse('conflict', 'this was signed in the future: check the clocks of both machines')
  return target.now >= created_ms + target.lifetime_ms
    ? refuse('conflict', 'this was signed too long ago: request it again')
    : undefined
}

export type DecisionSigner = { readonly subject: string; readonly fingerprint: string }

/** The refusal of an approval that does not complete the request. The signatures of both were verified. */
export function checkDecisionPair(
  [request, requester]: readonly [AcceptanceRequest, DecisionSigner],
  [approval, approver]: readonly [AcceptanceApproval, DecisionSigner],
): Refusal | undefined {
  if (requester.subject === approver.subject || requester.fingerprint === approver.fingerprint)
    return refuse(
      'forbidden',
      `${requester.subject} requested this; another enrolled administrator must approve, with their own token and key`,
    )
  if (approval.request !== sha384(decisionPayload(request)))
    return refuse('conflict', 'the approval is for another request')
  return approval.artifacts.join() === request.artifacts.join()
    ? undefined
    : refuse('conflict', 'the approval differs from the request')
}
