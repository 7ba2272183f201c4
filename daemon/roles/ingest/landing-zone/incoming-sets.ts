// The contract of datasets of peers that arrive in parts: each waits on the disk until it is whole and a pipeline takes it.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { part } from '../../../kernel/role/part.ts'
import { datasetPart } from '../federation/model.ts'
import type { ZonePlace } from './zone-files.ts'

const { set_id, name, parts, total_rows, sha256, columns } = datasetPart.shape

/** What all parts of a set say alike. `label`: in the terms of this site. */
export const incomingSet = z.strictObject({
  peer: siteName,
  ...{ set_id, name, parts, total_rows, sha256, columns, label },
})
export type IncomingSet = z.output<typeof incomingSet>

/** `received`: parts that are there. */
export type WaitingSet = IncomingSet & { readonly received: number; readonly since_ms: number }

export type IncomingSets = {
  /**
   * Stores a part durably; repeatable, also after the set was delivered. `differs`: another part described the set otherwise.
   * `too_large`: it is beyond the size of a file in a landing zone. Throws `Refusal('unavailable')` where the folder cannot be used,
   * and where sets of the peer that wait leave no room.
   */
  take(tenant_id: string, set: IncomingSet, number: number, lines: string): Promise<'taken' | 'differs' | 'too_large'>
  /** Those that were not delivered, of one peer or of all. */
  list(tenant_id: string, peer?: string): Promise<WaitingSet[]>
  /** Puts a whole set into a zone as a file of JSON lines. `differs`: its rows are not those that the sender digested. */
  deliver(tenant_id: string, set: IncomingSet, place: ZonePlace): Promise<'delivered' | 'differs'>
  /** Removes sets that have waited, or were delivered, longer than the profile keeps files. Returns those that were not delivered. */
  purge(tenant_id: string): Promise<WaitingSet[]>
}

export const incomingSetsPart = part<IncomingSets>('incoming-sets')
