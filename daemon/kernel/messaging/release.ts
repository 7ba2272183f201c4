// The release or dismissal of a quarantined message by two people: the content that each signs.

import * as z from 'zod'
import { type Jws, jws } from '../cryptography/signatures.ts'
import { canonicalJson } from '../encoding/canonical-json.ts'
import { parseExactJson } from '../encoding/parse-json.ts'
import { label } from '../label/label.ts'
import { hex96 } from './statement.ts'

/**
 * Reasons of a quarantine that people may waive. Never a bad signature, other bytes under a number, or a refused
 * message.
 */
export const waivableReason = z.enum([
  'EXPIRED',
  'FUTURE',
  'LABEL_MISSING',
  'LABEL_DENIED',
  'QUOTA',
  'POISON',
  'FAST_FORWARD',
])
export type WaivableReason = z.infer<typeof waivableReason>

const decisionFields = {
  v: z.literal(1),
  site: z.string().min(1).max(64),
  item: z.string().min(1).max(256).meta({ description: '<peer>/<id> in quarantine' }),
  digests: z.array(hex96).min(1).max(2).meta({ description: 'SHA-384 of each quarantined file, body first' }),
  reason: z.string().min(1).max(1_000).meta({ description: 'Justification by the person' }),
  subject: z.string().min(1).max(256).meta({ description: 'Who signs' }),
  created: z.iso.datetime(),
}
const approvalFields = {
  step: z.literal('approval'),
  request: hex96.meta({ description: 'SHA-384 of the payload of the request' }),
}

const releaseFields = {
  ...decisionFields,
  type: z.literal('platform.release'),
  waiver: waivableReason.meta({ description: 'The reason of the quarantine, which is waived' }),
  label: label.optional().meta({ description: 'The label under which the message is released' }),
}

export const releaseRequest = z.strictObject({ ...releaseFields, step: z.literal('request') })
export type ReleaseRequest = z.infer<typeof releaseRequest>

export const releaseApproval = z.strictObject({ ...releaseFields, ...approvalFields })
export type ReleaseApproval = z.infer<typeof releaseApproval>

export type Release = ReleaseRequest | ReleaseApproval

/** Removes a message that two people could release: two people sign that too. */
const dismissalFields = { ...decisionFields, type: z.literal('platform.dismissal') }
export const dismissalRequest = z.strictObject({ ...dismissalFields, step: z.literal('request') })
export type DismissalRequest = z.infer<typeof dismissalRequest>
export const dismissalApproval = z.strictObject({ ...dismissalFields, ...approvalFields })
export type DismissalApproval = z.infer<typeof dismissalApproval>
export type Dismissal = DismissalRequest | DismissalApproval

/** A decision of one of two people about an item of the quarantine. */
export type PersonalDecision = Release | Dismissal
export type DecisionRequest = ReleaseRequest | DismissalRequest
export type DecisionApproval = ReleaseApproval | DismissalApproval

/** The signature of one person with one key. */
export const personalSignature = jws
  .extend({ signatures: jws.shape.signatures.length(1) })
  .meta({ id: 'PersonalSignature', description: 'JWS (general JSON serialisation) with the signature of one person' })

/** The fault of a release by itself, whatever item it names; undefined when it has none. */
export function findReleaseFault({ waiver, label, digests }: Release): string | undefined {
  if (digests.length !== 2) return 'the release must name the digests of both files of a message'
  if (waiver === 'LABEL_MISSING') return label ? undefined : 'the release must name the label of the message'
  return label && waiver !== 'LABEL_DENIED' ? `a release for ${waiver} must not name a label` : undefined
}

/** The bytes to sign, as text. */
export function releasePayload(decision: PersonalDecision): string {
  return canonicalJson(decision)
}

/** The signed content, unverified; undefined for text that is not such content in canonical JSON. */
export function parseRelease<T extends PersonalDecision>(schema: z.ZodType<T>, envelope: Jws): T | undefined {
  const value = parseExactJson(Buffer.from(envelope.payload, 'base64url'), canonicalJson)
  const { data } = schema.safeParse(value)
  // A member that the schema added was not signed.
  return data && releasePayload(data) === canonicalJson(value) ? data : undefined
}
