// The run of numbers that a person decides about, and the answer to the decision.
import * as z from 'zod'

const sequenceNumber = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
const max_numbers = 100_000

export const rangeFields = z
  .strictObject({
    peer: z.string().min(1).max(64),
    epoch: z.int().min(1).max(99_999_999).optional().meta({ description: 'Default: the current epoch' }),
    first: sequenceNumber,
    last: sequenceNumber,
    reason: z.string().trim().min(1).max(1_000).meta({ description: 'Reason of the decision, for the audit log' }),
  })
  .refine(({ first, last }) => first <= last && last - first < max_numbers, {
    path: ['last'],
    message: `must be from first to first + ${max_numbers - 1}`,
  })

export const rangeDecision = z
  .strictObject({
    peer: z.string(),
    epoch: z.int(),
    numbers: z.int().min(0).meta({ description: 'Numbers that the decision changed; 0 when it had been made before' }),
  })
  .meta({ id: 'RangeDecision', description: 'A decision about a run of numbers of a channel' })
