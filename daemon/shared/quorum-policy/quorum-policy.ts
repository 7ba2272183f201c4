// The quorum policy of a session: number of contributors, combination method and thresholds.
import * as z from 'zod'

export const combinationMethod = z.enum(['weighted_average', 'dempster_shafer'])
export type CombinationMethod = z.output<typeof combinationMethod>

/** Largest number of contributors of a session. */
const max_contributors = 1000

const count = z.int().min(1).max(max_contributors)

/** A strict object. Also refused: m > n, and a list of contributors that is not exactly n distinct ones. */
export const quorumPolicy = z
  .strictObject({
    m: count.meta({ description: 'Distinct contributors required for a decision' }),
    n: count.meta({
      description: 'Largest number of contributors; a session that is undecided after n contributions is in conflict',
    }),
    combination_method: combinationMethod
      .default('weighted_average')
      .meta({ description: 'Method that combines the contributions into one score' }),
    ratify_threshold: z
      .number()
      .gt(0.5)
      .max(1)
      .default(0.8)
      .meta({ description: 'Score from which a match is ratified; at or below 1 minus this, a non-match' }),
    conflict_threshold: z
      .number()
      .gt(0)
      .max(1)
      .default(0.5)
      .meta({ description: 'Conflict from which the session is in conflict' }),
    contributors: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(max_contributors)
      .optional()
      .meta({ description: 'The only contributors accepted: exactly n, each named once' }),
    deadline: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'Instant (RFC 3339) after which an undecided session is in conflict' }),
  })
  .check((policy) => {
    const { m, n, contributors } = policy.value
    const refuse = (field: string, message: string) =>
      policy.issues.push({ code: 'custom', path: [field], message, input: policy.value })
    if (m > n) refuse('m', 'must be at most n')
    if (contributors === undefined) return
    if (contributors.length !== n) refuse('contributors', 'must name exactly n contributors')
    if (new Set(contributors).size !== contributors.length) refuse('contributors', 'must name each contributor once')
  })
  .meta({ description: 'M-of-N quorum policy of a session' })

export type QuorumPolicy = z.output<typeof quorumPolicy>
