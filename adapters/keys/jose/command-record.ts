// The command that signs with a key whose private half is elsewhere, as a key file names it.
import * as z from 'zod'

/** A command has no arguments: what it needs is in it, so that no secret is in an argument list. */
export const signingCommand = z.strictObject({
  program: z.string().min(2).max(1_024),
  /** True for a command that answers one request after the other until its input ends. */
  resident: z.boolean(),
  time_limit_ms: z.int().min(100).max(120_000),
})
export type SigningCommand = z.infer<typeof signingCommand>
