// A registry as one caller may see it: the registry of this site, or a snapshot from another site.
import type { Label } from '../../../kernel/label/label.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import type { LookupIndex } from '../engine/lookup/lookup-index.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import type { RecordRef } from '../fields.ts'
import type { Lens } from '../lens/model.ts'

export type LookupRecord = {
  readonly ref: RecordRef
  readonly values: FieldValues
  readonly entity?: string | undefined
}

export type LookupEntity = {
  readonly id: string
  readonly label: Label
  readonly size: number
  readonly members: readonly RecordRef[]
}

export type LookupRegistry = {
  readonly lens: Lens
  readonly run: { readonly id: string; readonly route: 'clusters' | 'links' | undefined }
  /** Includes the threshold of the run, if it has one. */
  readonly weights: LookupWeights
  readonly index: LookupIndex
  uidOf(ref: RecordRef): string
  record(uid: string): Promise<LookupRecord | undefined>
  /** Returns undefined for an entity that no longer exists, or that the caller may not see. */
  entity(id: string): Promise<LookupEntity | undefined>
}
