// A registry as one caller may see it: the registry of this site, or a snapshot from another site.
import type * as z from 'zod'
import type { Label } from '../../../kernel/label/label.ts'
import type { LookupIndex } from '../engine/lookup/lookup-index.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import type { RecordRef } from '../fields.ts'
import type { StoredRun } from '../fusion-run/model.ts'
import type { Lens } from '../lens/model.ts'
import type { IndexId } from '../matching-thread/matching-jobs.ts'
import type { lookupCandidate } from './show-candidate.ts'

/** A record that the caller may see; its values are in the index. */
export type LookupRecord = { readonly ref: RecordRef; readonly entity: string | undefined }

export type LookupEntity = {
  readonly id: string
  readonly label: Label
  readonly size: number
  readonly members: readonly RecordRef[]
}

/** A candidate with its evidence, as the API returns it. */
export type ShownCandidate = z.infer<typeof lookupCandidate>

/** A registry in the service: reads documents at each call; only the index in the thread may be older. */
export type LookupRegistry = {
  readonly lens: Lens
  readonly tenant_id: string
  readonly run: { readonly id: string; readonly route: StoredRun['route'] }
  /** Includes the threshold of the run, if it has one. */
  readonly weights: LookupWeights
  readonly index: IndexId
  record(uid: string): Promise<LookupRecord | undefined>
  /** Returns undefined for an entity that no longer exists, or that the caller may not see. */
  entity(id: string): Promise<LookupEntity | undefined>
}

/** A registry in the matching thread, which reads documents by query. */
export type SearchableRegistry = Pick<LookupRegistry, 'lens' | 'weights'> & {
  readonly route: StoredRun['route']
  readonly index: LookupIndex
  uidOf(ref: RecordRef): string
  /** The entity of each record that the caller may see. */
  entitiesOf(uids: readonly string[]): Promise<readonly (LookupEntity | undefined)[]>
  visibleRecords(uids: readonly string[]): Promise<readonly (LookupRecord | undefined)[]>
  /** Lets other work of the thread continue. */
  pause(): Promise<void>
}
