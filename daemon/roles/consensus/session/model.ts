// A consensus session: its subject and policy, its contributions, its decision, and its outbox.
import * as z from 'zod'
import { classification, label } from '../../../kernel/label/label.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { collection } from '../../../kernel/store/store.ts'
import { sessionSubject } from '../../../shared/match-session/match-session.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { combination } from '../combine/combination.ts'
import { conflictReason, decision } from '../combine/decide.ts'
import { parentBlocks, shortText } from '../fields.ts'
import { recentContribution } from './contribution/recent-contribution.ts'
import { describedDissent, dissentResolution } from './dissent/model.ts'

/** Why a session is in conflict; `invalid_result`: the origin sent a result that fails the checks of this site. */
export const sessionConflictReason = z.enum([...conflictReason.options, 'invalid_result'])

export const sessionState = z.enum(['PROPOSED', 'PENDING_QUORUM', 'RATIFIED', 'IN_CONFLICT', 'WITHDRAWN'])
export type SessionState = z.infer<typeof sessionState>

/** The events that sinks receive: a ratification, and its retraction. */
export const emissionEvent = z.enum(['ratified', 'retracted'])
export type EmissionEvent = z.infer<typeof emissionEvent>

export const attestation = z
  .strictObject({
    id: shortText,
    by: shortText,
    decision,
    rationale: requiredText(4_096),
    at: z.iso.datetime(),
  })
  .meta({ id: 'Attestation', description: 'A person’s decision of a session in conflict' })

export const transition = z
  .strictObject({
    seq: z.int().min(1).meta({ description: 'Number of its event; the events of a session are numbered without gaps' }),
    at: z.iso.datetime(),
    from: sessionState.nullable(),
    to: sessionState,
    trigger: z.enum(['create', 'contribution', 'resolve', 'attest', 'cancel', 'deadline', 'invitation', 'result']),
    by: shortText,
    reason: sessionConflictReason.optional(),
    decision: decision.optional(),
    result: combination.optional(),
  })
  .meta({ id: 'Transition', description: 'One change of state, as in the event stream' })
export type Transition = z.infer<typeof transition>

const messageBody = z.record(z.string(), z.unknown())

/** What a session has yet to deliver. Ids are deterministic, so that a receiver recognises a repeated delivery. */
export const outboxEntry = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('dissent'), id: shortText, record: describedDissent }),
  z.strictObject({
    type: z.literal('dissent_closed'),
    id: shortText,
    dissent_id: shortText,
    resolution: dissentResolution,
    at: z.iso.datetime(),
  }),
  z.strictObject({ type: z.literal('evidence'), id: shortText }),
  z.strictObject({
    type: z.literal('message'),
    id: shortText,
    peer: shortText,
    kind: z.enum(['invitation', 'contribution', 'result']),
    body: messageBody,
    /** A stored block or dissent that belongs to the body: too large to be written with every change of the session. */
    evidence_block_id: z.string().optional(),
    dissent_id: z.string().optional(),
    /** Blocks that the message names as those it rests on. */
    parent_block_ids: parentBlocks.optional(),
  }),
  z.strictObject({ type: z.literal('emission'), id: shortText, sink: shortText, event: emissionEvent }),
])
export type SessionOutboxEntry = z.infer<typeof outboxEntry>
export type OutboxEntryOf<T extends SessionOutboxEntry['type']> = Extract<SessionOutboxEntry, { type: T }>

/** An outbox entry that was dropped as undeliverable: a person has to inform its receiver. */
const deliveryFailure = z.strictObject({
  what: shortText,
  code: shortText,
  why: z.string(),
  at: z.iso.datetime(),
})

/** A result of the origin that was refused: what in it does not follow from what this site knows. */
const invalidResult = z.strictObject({
  at: z.iso.datetime(),
  msg_id: shortText,
  faults: z.array(z.string().max(1_024)).max(16),
})
export type InvalidResult = z.infer<typeof invalidResult>

const storedSession = z.strictObject({
  id: shortText,
  tenant_id: z.string(),
  label,
  created_by: shortText,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  request_digest: z.string(),
  lens_id: shortText,
  lens_version: shortText,
  subject: sessionSubject.optional(),
  /** That of the subject, as an index. */
  correlation_id: shortText.optional(),
  policy: quorumPolicy,
  state: sessionState,
  reason: sessionConflictReason.optional(),
  decision: decision.optional(),
  result: combination.optional(),
  /** Number of all contributions ever accepted; the newest are in `recent`, the others in `pages` full pages. */
  contributions: z.int().min(0),
  contributors: z.int().min(0),
  pages: z.int().min(0),
  recent: z.array(recentContribution),
  /** Rolling digest of all accepted contributions: identifies a set of standing contributions exactly. */
  chain: z.string(),
  history: z.array(transition),
  attestation: attestation.optional(),
  evidence_block_id: z.string().optional(),
  open_dissent_id: z.string().optional(),
  /** Peers that were invited to the session and may contribute. */
  invited: z.array(shortText),
  /** The session of this tenant that this one takes the place of: its evidence names the block of that one. */
  supersedes: shortText.optional(),
  /** Blocks that the attester named, in ascending order. */
  rests_on: parentBlocks.optional(),
  /** Tenants of the invited peers, where there are some: names under which no contributor of this site votes. */
  peer_tenants: z.array(shortText).optional(),
  /** Set on the copy of a session that a peer hosts: this copy follows the peer's. */
  origin: z.strictObject({ peer: shortText, tenant_id: shortText }).optional(),
  /** Label of the invitation, in the terms of this site's policy; the label of the copy may narrow. */
  invitation_label: label.optional(),
  /** The newest results of the origin that were refused. */
  invalid_results: z.array(invalidResult).optional(),
  pending: z.array(outboxEntry),
  /** Entries that could not be delivered and are not tried again. */
  failures: z.array(deliveryFailure).optional(),
  /** 1 while `pending` is not empty; an index field by which the relay finds sessions to deliver. */
  owes: z.union([z.literal(0), z.literal(1)]),
  /** Epoch milliseconds of the deadline while the session is undecided. */
  deadline_ts: z.number().optional(),
})
export type StoredSession = z.infer<typeof storedSession>

export const sessions = collection({
  name: 'session',
  schema: storedSession,
  indexes: ['state', 'lens_id', 'correlation_id', 'created_at', 'owes', 'deadline_ts'],
  orders: [
    ['state', 'created_at'],
    ['correlation_id', 'created_at'],
  ],
})

/** The session as the API returns it. */
export const session = z
  .strictObject({
    id: z.string(),
    version: z.int().min(1),
    tenant_id: z.string(),
    state: sessionState,
    reason: sessionConflictReason.optional(),
    decision: decision.optional(),
    lens_id: shortText,
    lens_version: shortText,
    subject: sessionSubject.optional(),
    policy: quorumPolicy,
    classification: label,
    result: combination.optional(),
    contributors: z.int().min(0).meta({ description: 'Distinct contributors with a standing contribution' }),
    contributions: z.int().min(0).meta({ description: 'All contributions in the record, superseded ones included' }),
    history: z.array(transition),
    attestation: attestation.optional(),
    evidence_block_id: z.string().optional(),
    open_dissent_id: z.string().optional(),
    supersedes: shortText.optional().meta({ description: 'The ratified session that this one takes the place of' }),
    rests_on: parentBlocks.optional().meta({ description: 'Evidence blocks that the attester named' }),
    invited: z.array(shortText),
    origin: z
      .strictObject({ peer: shortText, tenant_id: shortText })
      .optional()
      .meta({ description: 'The peer that hosts the session' }),
    invalid_results: z
      .array(invalidResult)
      .optional()
      .meta({ description: 'The newest results of the origin that were refused as false, and why' }),
    undeliverable: z.array(deliveryFailure).meta({ description: 'Deliveries that failed for good, and why' }),
    undelivered: z.int().min(0).meta({ description: 'Results, dissents and messages not yet delivered' }),
    created_by: shortText,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'ConsensusSession' })
export type ConsensusSession = z.infer<typeof session>

export const sessionInput = z.strictObject({
  lens_id: shortText,
  lens_version: shortText,
  policy: quorumPolicy,
  classification,
  subject: sessionSubject.optional(),
  invite: z
    .array(shortText)
    .max(64)
    .default([])
    .meta({ description: 'Peers to invite; each may contribute as its tenant' }),
  supersedes: shortText.optional().meta({
    description: 'A ratified session of the tenant that this one takes the place of: the evidence names its block',
  }),
})

export const idInput = z.strictObject({ id: z.string().min(1).max(128) })
