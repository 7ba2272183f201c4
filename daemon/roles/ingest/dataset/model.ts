// The part of a landed dataset that documents of a run keep: where it is, its counts and its digest.
import * as z from 'zod'
import { count, shortText } from '../fields.ts'

export const landedSummary = z
  .strictObject({
    dataset: z.string().min(1).max(512).meta({ description: 'Name of the landed dataset' }),
    rows: count,
    rejects: count,
    bytes: count,
    digest: z.string().length(64).meta({ description: 'SHA-256 of its manifest' }),
    inputs: z
      .array(z.strictObject({ name: shortText, bytes: count, digest: z.string().length(64) }))
      .max(1_000)
      .meta({ description: 'The files that it was made of' }),
  })
  .meta({ id: 'LandedSummary' })
export type LandedSummary = z.infer<typeof landedSummary>
