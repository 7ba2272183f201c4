// A consensus session about a match of two records: the resolution role opens it, the consensus role returns its ruling.
import * as z from 'zod'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import { label } from '../../kernel/label/label.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { type ContractInput, operationContract } from '../../kernel/operation/operation-contract.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'
import { quorumPolicy } from '../quorum-policy/quorum-policy.ts'
import { sessionId } from './session-id.ts'

const shortText = requiredText(256)

export const sessionSubject = z
  .strictObject({
    kind: shortText.meta({ description: 'Kind of comparison, such as entity_match' }),
    left: shortText,
    right: shortText,
    correlation_id: shortText.optional().meta({ description: 'uid of the EntityMatch that the session decides' }),
  })
  .meta({ id: 'Subject', description: 'The subject of a session' })

export const openSession = operationContract({
  address: 'consensus.session.open',
  input: z.strictObject({
    lens_id: shortText,
    lens_version: shortText,
    policy: quorumPolicy,
    subject: sessionSubject,
    invite: z
      .array(shortText)
      .max(64)
      .default([])
      .meta({ description: 'Peers to invite; each may contribute as its tenant' }),
    id: sessionId,
    tenant_id: z.string().min(1).max(128),
    label,
  }),
  output: z.looseObject({ id: z.string() }),
})

/** A session to open. A repeated id returns the existing session. */
export type MatchSession = ContractInput<(typeof openSession)['input']>

export const ruleOnMatch = operationContract({
  address: 'resolution.entity-match.rule',
  input: z.strictObject({
    correlation_id: z.string().min(1).max(128),
    tenant_id: z.string().min(1).max(128).meta({ description: 'Tenant of the session' }),
    session_id: shortText,
    seq: z.int().min(1),
    event: z.enum(['ratified', 'retracted']),
    at: z.iso.datetime(),
    decision: z.enum(['match', 'non_match']).optional(),
    score: z.number().nullable().optional(),
    attested: z.boolean().optional(),
    evidence_block_id: shortText.optional(),
  }),
  output: z.looseObject({ uid: z.string() }),
})

/**
 * The decision of a session, or that the session was withdrawn. `tenant_id`: of the session. `seq`: a higher one is newer.
 * A session that was withdrawn before it decided has no `decision`.
 */
export type SessionRuling = ContractInput<(typeof ruleOnMatch)['input']>

const sessionRecord = operationContract({
  address: 'consensus.session.get',
  input: z.strictObject({ id: z.string() }),
  output: z.looseObject({
    tenant_id: z.string(),
    state: z.string(),
    history: z.array(z.looseObject({ seq: z.int(), to: z.string(), at: z.iso.datetime() })),
    decision: z.enum(['match', 'non_match']).optional(),
    result: z.looseObject({ score: z.number().nullable() }).optional(),
    attestation: z.unknown().optional(),
    evidence_block_id: z.string().optional(),
  }),
})

const eventAfter: Readonly<Record<string, SessionRuling['event']>> = { RATIFIED: 'ratified', WITHDRAWN: 'retracted' }

/**
 * Reads how a session has ended, for a match that was not notified; undefined while the session is open. Refuses
 * `not_found` for a session that does not exist.
 */
export async function readSessionEnd(
  { roles }: Pick<Call, 'roles'>,
  session_id: string,
): Promise<Omit<SessionRuling, 'correlation_id'> | Refusal | undefined> {
  const session = await roles.request(sessionRecord, { id: session_id })
  if (isRefusal(session)) return session
  const { tenant_id, state, decision, result, attestation, evidence_block_id } = session
  const event = eventAfter[state]
  const step = session.history.findLast(({ to }) => to === state)
  if (!event || !step) return undefined
  return {
    ...{ tenant_id, session_id, seq: step.seq, event, at: step.at, score: result?.score ?? null },
    attested: attestation !== undefined,
    ...(decision ? { decision } : {}),
    ...(evidence_block_id ? { evidence_block_id } : {}),
  }
}

/** Opens a session about a match, for its tenant. Returns the refusal of one that can never be opened. */
export async function openMatchSession(
  { roles }: Pick<Call, 'roles'>,
  session: MatchSession,
): Promise<Refusal | undefined> {
  const opened = await roles.request(openSession, session)
  return isRefusal(opened) ? opened : undefined
}

/** Passes the ruling of a session to its match. Returns the refusal of a ruling that the match cannot take. */
export async function applySessionRuling({ roles }: Call, ruling: SessionRuling): Promise<Refusal | undefined> {
  const ruled = await roles.request(ruleOnMatch, ruling)
  return isRefusal(ruled) ? ruled : undefined
}
