// A federation peer as pinned at enrolment: its keys, its tenant, and what may flow to and from it.
import * as z from 'zod'
import { publicKey } from '../cryptography/signatures.ts'
import { label } from '../label/label.ts'
import { labelMap } from '../label/label-map.ts'
import { hex96 } from '../messaging/statement.ts'
import { newest_v } from '../messaging/statement-format.ts'

export const max_peer_keys = 64
export const max_revoked_keys = 1_024

export const peer = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens, at most 63')
    .meta({ description: 'The peer’s site name' }),
  tenant_id: z.string().min(1).max(128),
  keys: z.array(publicKey).min(1).max(max_peer_keys),
  threshold: z.int().min(1).max(16).default(1).meta({ description: 'Distinct keys that must sign a message' }),
  root_threshold: z
    .int()
    .min(1)
    .max(16)
    .optional()
    .meta({ description: 'Distinct root keys that must sign the peer’s next key set; 1 unless said' }),
  key_set: z
    .strictObject({ version: z.int().min(1), digest: hex96, created: z.iso.datetime() })
    .optional()
    .meta({ description: 'The key set that the keys are of; absent: people pinned them one by one' }),
  revoked: z
    .array(publicKey.shape.fingerprint)
    .max(max_revoked_keys)
    .optional()
    .meta({ description: 'Keys that count no more, whatever a key set says of them' }),
  ceiling: label.meta({ description: 'Highest level and the categories that may cross, both ways' }),
  label_map: labelMap.optional(),
  releasable_names: z
    .array(z.string())
    .max(64)
    .default([])
    .meta({ description: 'Nationalities that the peer counts as, besides its tenant, for releasability' }),
  max_v: z
    .int()
    .min(1)
    .max(newest_v)
    .default(1)
    .meta({ description: 'Newest version of the statement that the peer reads' }),
  not_after_days: z
    .int()
    .min(1)
    .max(365)
    .default(7)
    .meta({ description: 'How long a message stays fresh; couriers 90' }),
  keep_days: z
    .int()
    .min(1)
    .max(3_650)
    .default(30)
    .meta({ description: 'How long the files of sent and applied messages are kept; couriers at least 90' }),
  inventory_interval_s: z.int().min(1).default(300),
  enrolled: z.iso.datetime(),
})

export type Peer = z.infer<typeof peer>

/** The peers of the site, read from disk each time: an enrolment or a revocation counts at once. */
export interface Peers {
  list(): Promise<Peer[]>
  get(name: string): Promise<Peer | undefined>
}
