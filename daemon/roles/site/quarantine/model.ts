// A quarantined message as an operator sees it: where it lies, what is wrong with it, and what it claims to be.
import * as z from 'zod'

export const quarantineEntry = z
  .strictObject({
    id: z.string().meta({ description: 'peer/file name' }),
    peer: z.string(),
    file: z.string(),
    reason: z.string(),
    detail: z.string(),
    at: z.string(),
    digest: z.string().optional(),
    bytes: z.int().min(0),
  })
  .meta({ id: 'QuarantineEntry' })
export type QuarantineEntry = z.infer<typeof quarantineEntry>
