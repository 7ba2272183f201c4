// Parameters of consensus sessions about matches, and the range of scores that opens them.
import * as z from 'zod'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { shortText } from '../fields.ts'

const fraction = z.number().min(0).max(1)

/** Parameters of a consensus session about a match. */
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
      description: 'Lowest score that opens a session: a probability, or a text similarity',
    }),
    to: fraction.meta({ description: 'Highest score that opens a session' }),
    ...consultation.shape,
  })
  .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not be below from' })
  .meta({
    id: 'ToConsensus',
    description: 'Range of scores that opens consensus sessions, and the parameters of the sessions',
  })
export type ConsensusRange = z.infer<typeof consensusRange>
