// Sets of artifacts from other sites: held until two administrators accept them, with one document for each artifact.
import * as z from 'zod'
import { jws } from '../../../../kernel/cryptography/signatures.ts'
import { hex96 } from '../../../../kernel/messaging/statement.ts'
import { collection } from '../../../../kernel/store/store.ts'
import { documentFields } from '../document-fields.ts'
import { decisionSignature } from './decision.ts'

/** `accepting`: two administrators have accepted it, and its artifacts become active one after the other. */
export const setStatuses = ['held', 'accepting', 'accepted', 'rejected'] as const

/** A decision as it was signed; what it says is read from the signature alone. */
const storedDecision = z.strictObject({ signature: decisionSignature, digest: hex96, fingerprint: z.string() })

const storedSet = z.strictObject({
  ...documentFields,
  status: z.enum(setStatuses),
  peer: z.string(),
  origin_tenant_id: z.string(),
  digest: hex96,
  made_at: z.iso.datetime(),
  signed: jws,
  artifact_count: z.int().min(1),
  importer: z.string(),
  request: storedDecision.optional(),
  approval: storedDecision.optional(),
  accepted_ts: z.number().optional(),
  rejected: z.strictObject({ actor: z.string(), reason: z.string() }).optional(),
  expires_ts: z.number().optional(),
})
export type StoredSet = z.infer<typeof storedSet>

export const guidanceSets = collection({
  name: 'guide_set',
  schema: storedSet,
  indexes: ['status', 'peer', 'create_ts'],
  orders: [['status', 'create_ts']],
})

const storedSetArtifact = z.strictObject({
  ...documentFields,
  set_id: z.string(),
  number: z.int().min(1),
  /** As it was carried, in canonical JSON; the label of this document is that in the terms of this site. */
  carried: z.string(),
  /** Once its set was accepted, of a chosen one. */
  outcome: z.enum(['active', 'refused']).optional(),
  detail: z.string().max(1_024).optional(),
  artifact_id: z.string().optional(),
  expires_ts: z.number(),
})
export type StoredSetArtifact = z.infer<typeof storedSetArtifact>

/** Under `<set id>.<number>`. */
export const setArtifacts = collection({
  name: 'guide_set_artifact',
  schema: storedSetArtifact,
  indexes: ['set_id', 'number'],
  orders: [['set_id', 'number']],
})

/** The newest set of a peer that was accepted: none that is older may follow. */
const storedSetOrigin = z.strictObject({
  tenant_id: z.string(),
  peer: z.string(),
  made_at: z.iso.datetime(),
  digest: hex96,
  set_id: z.string(),
})

/** Under `<tenant>.<peer>`. */
export const setOrigins = collection({ name: 'guide_set_origin', schema: storedSetOrigin, indexes: ['peer'] })

export const setArtifactId = (set_id: string, number: number): string => `${set_id}.${number}`
export const setOriginId = (tenant_id: string, peer: string): string => `${tenant_id}.${peer}`
