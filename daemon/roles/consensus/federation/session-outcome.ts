// The outcome of a session as its origin sends it: evidence of a ratification, a dissent, or a retraction.
import * as z from 'zod'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import { dissentId, sessionId } from '../../../shared/match-session/session-id.ts'
import { type EvidenceBlock, evidenceBlock } from '../evidence/model.ts'
import { dissentRecord } from '../session/dissent/model.ts'
import { sessionState } from '../session/model.ts'

/** As peers send it: the label is that of the message. */
export const peerDissent = dissentRecord.omit({ tenant_id: true, label: true }).extend({ id: dissentId })
export type PeerDissent = z.infer<typeof peerDissent>

const retraction = z.strictObject({ at: z.iso.datetime(), was: sessionState })

/**
 * The data of a `result` message. Evidence and dissent are read later, when the sender is known to host the session: one
 * that has not its form is as false as one that does not follow.
 */
export const resultMessage = z
  .strictObject({
    session_id: sessionId,
    evidence: z.record(z.string(), z.unknown()).optional(),
    dissent: z.record(z.string(), z.unknown()).optional(),
    retraction: retraction.optional(),
  })
  .refine(
    ({ evidence, dissent, retraction }) =>
      [evidence, dissent, retraction].filter((part) => part !== undefined).length <= 1,
    'must hold one outcome',
  )
type ResultMessage = z.infer<typeof resultMessage>

export type SessionOutcome = {
  readonly evidence?: EvidenceBlock | undefined
  readonly dissent?: PeerDissent | undefined
  readonly retraction?: z.infer<typeof retraction> | undefined
}

/** `faults`: why the outcome is not of its form. */
export function parseOutcome({ evidence, dissent, retraction }: ResultMessage): SessionOutcome & {
  readonly faults: readonly string[]
} {
  const block = evidence && parseWithSchema(evidenceBlock, evidence)
  const record = dissent && parseWithSchema(peerDissent, dissent)
  const faults = [
    ...(block && !block.success ? [`the evidence is not of its form: ${formatFieldErrors(block.errors)}`] : []),
    ...(record && !record.success ? [`the dissent is not of its form: ${formatFieldErrors(record.errors)}`] : []),
  ]
  return {
    evidence: block?.success ? block.data : undefined,
    dissent: record?.success ? record.data : undefined,
    retraction,
    faults,
  }
}
