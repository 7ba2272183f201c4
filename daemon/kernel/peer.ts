// A federation peer as pinned at enrolment: its keys, its tenant, and what may flow to and from it.
import * as z from 'zod'
import { publicKey } from './keys.ts'
import { label } from './label.ts'

export const peer = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .meta({ description: 'The peer’s site name' }),
  tenant_id: z.string().min(1).max(128),
  keys: z.array(publicKey).min(1).max(64),
  threshold: z.int().min(1).max(16).default(1).meta({ description: 'Distinct keys that must sign a message' }),
  ceiling: label.meta({ description: 'Highest level and the categories that may cross, both ways' }),
  releasable_names: z
    .array(z.string())
    .max(64)
    .default([])
    .meta({ description: 'Nationalities that the peer counts as, besides its tenant, for releasability' }),
  max_v: z.literal(1).default(1),
  not_after_days: z
    .int()
    .min(1)
    .max(365)
    .default(7)
    .meta({ description: 'How long a message stays fresh; couriers 90' }),
  inventory_interval_s: z.int().min(1).default(300),
  enrolled: z.iso.datetime(),
})

export type Peer = z.infer<typeof peer>

/** The peers of the site, read from disk each time: an enrolment or a revocation counts at once. */
export interface Peers {
  list(): Promise<Peer[]>
  get(name: string): Promise<Peer | undefined>
}
