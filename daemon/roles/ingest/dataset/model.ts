// The part of a landed dataset that documents of a run keep: where it is, its counts and its digest.
import * as z from 'zod'
import { count, shortText } from '../fields.ts'

const datasetOrigin = z.strictObject({
  name: shortText,
  bytes: count,
  digest: z.string().length(64),
  /** Rows that were read of it; absent in runs of an earlier release. */
  rows: count.optional(),
})

export const landedSummary = z
  .strictObject({
    dataset: z.string().min(1).max(512).meta({ description: 'Name of the landed dataset' }),
    rows: count,
    rejects: count,
    bytes: count,
    digest: z.string().length(64).meta({ description: 'SHA-256 of its manifest' }),
    inputs: z
      .array(datasetOrigin)
      .max(1_000)
      .meta({ description: 'The files, or the datasets of tasks before, that it was made of' }),
    checks: z
      .array(
        z.strictObject({ rule: shortText, on_failure: z.enum(['reject', 'count', 'end']), rows: count, failed: count }),
      )
      .max(1_000)
      .optional()
      .meta({ description: 'Rules by which its rows were tested, and the rows for which each does not hold' }),
  })
  .meta({ id: 'LandedSummary' })
/** A file that a task wrote for others. */
export const writtenFile = z
  .strictObject({
    file: shortText,
    rows: count,
    bytes: count,
    digest: z.string().length(64),
    inputs: z.array(datasetOrigin),
  })
  .meta({ id: 'WrittenFile' })
export type WrittenFile = z.infer<typeof writtenFile>
export type LandedSummary = z.infer<typeof landedSummary>

/** `digest`: SHA-256 of the manifest. */
export type DatasetRef = Pick<LandedSummary, 'dataset' | 'digest'>

/**
 * The cursor in the manifest of a dataset. `after`: digest of the manifest at whose cursor the reading began. `settled`: the source
 * has confirmed that it sends none of its messages again.
 */
export type LandedCursor = {
  readonly of: string
  readonly after?: string | undefined
  readonly settled?: true | undefined
}
