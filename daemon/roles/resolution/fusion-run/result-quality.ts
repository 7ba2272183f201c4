// The quality of a result as estimated from its scores, and from labels if there are some.
import * as z from 'zod'
import { route_reasons, trainings } from '../engine/resolution-context.ts'
import { count, shortText } from '../fields.ts'

/** Estimates below these make a result poor. */
export const min_precision = 0.6
export const min_recall = 0.5

const share = z.number().min(0).max(1)

const estimate = z
  .strictObject({
    value: share,
    low: share.meta({ description: 'The truth of nine in ten labelled tables lay between low and high' }),
    high: share,
  })
  .meta({ id: 'QualityEstimate' })
export type QualityEstimate = z.infer<typeof estimate>

export const resultQuality = z
  .strictObject({
    verdict: z.enum(['good', 'fair', 'poor', 'no_links']),
    poor_in: z
      .array(z.enum(['precision', 'recall', 'division']))
      .optional()
      .meta({
        description: `Measures below the minimum (precision ${min_precision}, recall ${min_recall}); division: linked records share their cluster with 20 records or more, and a tenth of all, on average`,
      }),
    precision: estimate.optional().meta({ description: 'Estimated share of the links that are right' }),
    recall: estimate.optional().meta({ description: 'Estimated share of the matches that are linked' }),
    by_labels: z
      .strictObject({
        labels: count.meta({ description: 'Labelled pairs that were compared; below 10 there is no estimate' }),
        matches: count,
        precision: estimate.optional(),
        recall: estimate.optional().meta({ description: 'Estimated share of the matches among compared pairs' }),
      })
      .optional()
      .meta({ description: 'Estimates from labelled pairs, by which the verdict goes; absent without labels' }),
    links: count.meta({ description: 'Compared pairs within clusters' }),
    sure_links: count.meta({
      description: 'Of these, pairs that lie 5.8 bits, or 0.2 of likeness, or more above the cut',
    }),
    route_reason: z.enum(route_reasons).meta({ description: 'Why the route was taken' }),
    prior: z
      .strictObject({
        share: share.meta({ description: 'Share of the compared pairs that are matches' }),
        learnt_from: z.enum(trainings),
      })
      .optional()
      .meta({ description: 'Probability of a match before any field is compared' }),
    carried_by: z
      .array(z.strictObject({ field: shortText, bits: z.number() }))
      .meta({ description: 'Mean weight of each field in the links, as log-odds to base 2, strongest first' }),
    differing_name: z.strictObject({ field: shortText, share }).optional().meta({
      description: 'A name that differs in most links, and the share of the links that do: they count as wrong',
    }),
    doubtful: z
      .strictObject({
        count,
        worst: z.array(
          z.strictObject({
            cluster: count
              .optional()
              .meta({ description: 'Its number in the files of a run; absent for a run of the service' }),
            size: count,
            doubts: z.array(z.enum(['large', 'sparse', 'chained'])).meta({
              description:
                'large: 20 records and ten times the median of the others, or more; sparse: fewer than half of its pairs lie above the cut; chained: one pair alone holds two parts together',
            }),
            density: share.meta({ description: 'Share of its pairs above the cut' }),
          }),
        ),
      })
      .meta({ description: 'Clusters to look at first, the largest first' }),
  })
  .meta({ id: 'ResultQuality' })
export type ResultQuality = z.infer<typeof resultQuality>
