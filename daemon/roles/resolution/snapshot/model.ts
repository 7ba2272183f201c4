// The file of a registry snapshot that one site exports to another: its signed manifest and its lines.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { label } from '../../../kernel/label/label.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { count, recordRef, shortText, textForm, uid } from '../fields.ts'
import { storedRun } from '../fusion-run/model.ts'
import { lens } from '../lens/model.ts'

export const max_labels = 4_096
/** Size limit of one line: a record, a lens or a label. */
export const max_line_bytes = 4_194_304

/** The manifest that the site signs. It is valid for exactly these bytes and one receiver. */
export const snapshotManifest = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.registry'),
  from: siteName,
  tenant_id: z.string().min(1).max(128).meta({ description: 'Tenant of the registry at the exporting site' }),
  to: siteName,
  lens: lens.shape.lens,
  lens_version: lens.shape.version,
  entity_type: shortText,
  label: label.meta({ description: 'Joined label of the whole content' }),
  version: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  made_at: z.iso.datetime(),
  text_form: textForm.meta({ description: 'Normal form of the values; absent for those of an earlier release' }),
  records: count,
  entities: count,
  bytes: count.meta({ description: 'Size of all lines before the last' }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type SnapshotManifest = z.infer<typeof snapshotManifest>

/** The last line of a snapshot file. */
export const snapshotTrailer = z.strictObject({ form: z.literal('registry-snapshot/1'), signed: jws })

/** Index, from 0, into the labels of the lines before. */
const labelIndex = count.max(max_labels - 1)

export const lensLine = z.strictObject({
  kind: z.literal('lens'),
  label: labelIndex,
  body: lens,
  run_id: uid,
  route: storedRun.shape.route,
  /** Includes the threshold of the run, if it has one. */
  weights: storedRun.shape.weights.unwrap(),
})
const labelLine = z.strictObject({ kind: z.literal('label'), label })
const recordLine = z.strictObject({
  kind: z.literal('record'),
  label: labelIndex,
  ref: recordRef,
  values: z.record(z.string(), z.string()),
  entity: uid,
})

export const snapshotLine = z.discriminatedUnion('kind', [lensLine, labelLine, recordLine])
export type SnapshotLine = z.infer<typeof snapshotLine>
export type LensLine = z.infer<typeof lensLine>
export type RecordLine = z.infer<typeof recordLine>

/** The last line of an imported snapshot: `labels` in the terms of this site, by index. */
export const importedSnapshotTrailer = z.strictObject({
  form: z.literal('held-registry/1'),
  manifest: snapshotManifest,
  signed: jws,
  imported_at: z.iso.datetime(),
  /** Joined label of the whole content, in the terms of this site. */
  label,
  labels: z.array(label).max(max_labels),
})
export type ImportedSnapshotTrailer = z.infer<typeof importedSnapshotTrailer>
