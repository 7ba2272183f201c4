// Leases: which process works on a job, for as long as it renews.
import * as z from 'zod'
import { collection } from '../store/store.ts'

/** A lease that this process took. */
export type Lease = { readonly key: string; readonly holder: string }

/**
 * Leases by key, shared by all processes of a role. A lease may be lost before its time, and its loss may be noticed
 * late: whoever takes one also claims the job itself, whose number refuses the writes of a former holder. Methods throw
 * `Refusal('unavailable')` when the shared store does not answer; the change may or may not have been made.
 */
export interface Leases {
  /** Takes a lease that nobody holds, for `life_ms`; undefined while another process holds it. */
  take(key: string, life_ms: number): Promise<Lease | undefined>
  /** Extends a lease to `life_ms` from now; false when it was lost. */
  renew(lease: Lease, life_ms: number): Promise<boolean>
  /** Ends a lease; a lost one stays with its new holder. */
  release(lease: Lease): Promise<void>
}

/** Leases of a role whose processes share only the document store. A role with jobs has the collection. */
export const jobLeases = collection({
  name: 'job_lease',
  schema: z.strictObject({
    tenant_id: z.string(),
    holder: z.string(),
    /** Epoch milliseconds; afterwards another process may take it. */
    until_ts: z.number(),
    expires_ts: z.number(),
  }),
  indexes: [],
})
