// The quorum policy of a session: how many must speak, how they are combined, and where the lines are drawn.
import * as z from 'zod'

export const combinationMethod = z.enum(['weighted_average', 'dempster_shafer'])
export type CombinationMethod = z.output<typeof combinationMethod>

/** The most contributors a session can have. */
export const max_contributors = 1000

const count = z.int().min(1).max(max_contributors)

/** Strict. Refused besides: m > n; a list of contributors that is not exactly n distinct ones. */
export const quorumPolicy = z
  .strictObject({
    m: count.meta({ description: 'Distinct contributors needed before anything is decided' }),
    n: count.meta({ description: 'Most contributors; with all of them heard, an undecided session is in conflict' }),
    combination_method: combinationMethod
      .default('weighted_average')
      .meta({ description: 'How the contributions become one score' }),
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
  .check((given) => {
    const { m, n, contributors } = given.value
    const refuse = (field: string, message: string) =>
      given.issues.push({ code: 'custom', path: [field], message, input: given.value })
    if (m > n) refuse('m', 'm is at most n')
    if (contributors === undefined) return
    if (contributors.length !== n) refuse('contributors', 'contributors names exactly n contributors')
    if (new Set(contributors).size !== contributors.length) refuse('contributors', 'each contributor is named once')
  })
  .meta({ description: 'M-of-N quorum policy of a session' })

export type QuorumPolicy = z.output<typeof quorumPolicy>
