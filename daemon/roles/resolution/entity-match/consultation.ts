// Which matches go to consensus sessions, and how these decide.
import * as z from 'zod'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { shortText } from '../fields.ts'

const fraction = z.number().min(0).max(1)

/** How a consensus session about a match is opened. */
export const consultation = z.strictObject({
  policy: quorumPolicy,
  invite: z
    .array(shortText)
    .max(64)
    .default([])
    .meta({ description: 'Peers to invite; each may contribute as its tenant' }),
})

/** The range of scores whose matches go to consensus sessions. */
export const consensusRange = z
  .strictObject({
    from: fraction.meta({
      description: 'Lowest score that goes to consensus: a probability, or a text similarity',
    }),
    to: fraction.meta({ description: 'Highest score that goes to consensus' }),
    ...consultation.shape,
  })
  .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not be below from' })
  .meta({ id: 'ToConsensus', description: 'Which matches go to consensus sessions, and how these decide' })
export type ConsensusRange = z.infer<typeof consensusRange>
