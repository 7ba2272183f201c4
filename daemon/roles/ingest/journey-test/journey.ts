// A journey test as its author writes it: hops in their order, and verifications of their responses.
import * as z from 'zod'
import { dagId, max_tasks, taskName } from '../../../shared/assembled-dag/assembled-dag.ts'
import { hopFields, refineHop } from './hop.ts'
import { keyPath } from './key-path.ts'
import { matcherFields } from './matcher.ts'
import { refineVerification, statusField } from './verification.ts'

const max_hops = 80

const hop = refineHop(
  z.strictObject({
    name: taskName.meta({ description: 'Of the task; other hops and verifications name it' }),
    ...hopFields,
  }),
).meta({ id: 'JourneyHop' })

const verification = refineVerification(
  z.strictObject({
    name: taskName.optional().meta({ description: 'Of the task; default: verify_ and its number' }),
    hop: taskName.meta({ description: 'The hop whose response is verified' }),
    path: keyPath.optional(),
    ...statusField,
    ...matcherFields,
  }),
).meta({ id: 'JourneyVerification' })

export const journey = z.strictObject({
  format: z.literal(1).default(1),
  dag_id: dagId,
  hops: z.array(hop).min(1).max(max_hops).meta({ description: 'Each begins once the one before has succeeded' }),
  verifications: z
    .array(verification)
    .min(1)
    .max(max_tasks - max_hops)
    .meta({ description: 'Each is a task of its own' }),
})
export type Journey = z.output<typeof journey>
