// The data of the report of a site. All texts are untrusted.
import * as z from 'zod'
import { publicKey } from '../../../kernel/cryptography/signatures.ts'
import { peer } from '../../../kernel/identity/peer.ts'
import { channelStatus } from '../../../kernel/messaging/channel-status.ts'
import { dependencyHealth } from '../../../kernel/role/dependency.ts'
import { node } from '../../../roles/hub/node/model.ts'
import { doctorFinding } from '../../doctor/finding.ts'

const roleState = z.strictObject({
  role: z.string(),
  /** `ok`, `degraded`, or a sentence that begins with `not`. */
  state: z.string(),
  version: z.unknown().optional(),
  dependencies: z.array(dependencyHealth).default([]),
  listens: z.array(z.string()).optional(),
})
export type ReportedRole = z.output<typeof roleState>

const reportedChannel = channelStatus.extend({ transport: z.string() })
export type ReportedChannel = z.output<typeof reportedChannel>

/** A part is absent where the site does not have it, or it could not be read: then `faults` says why. */
export const siteReport = z.strictObject({
  at: z.iso.datetime(),
  source: z.string(),
  roles: z.array(roleState),
  channels: z.array(reportedChannel).optional(),
  peers: z.array(peer).optional(),
  keys: z.array(publicKey).optional(),
  certificate: z.strictObject({ names: z.string(), not_after: z.string() }).optional(),
  nodes: z.array(node).optional(),
  sessions: z.array(z.strictObject({ state: z.string(), count: z.int().min(0) })).optional(),
  findings: z.array(doctorFinding).optional(),
  faults: z.array(z.string()),
})
export type SiteReport = z.output<typeof siteReport>
