// Options of a field of names: sounds, particles and nicknames.
import * as z from 'zod'
import { oneOf } from './known-words.ts'
import { defaultNameOptions, type NameOptions, phoneticNames } from './phonetics.ts'

const only_groups =
  'must be lines such as "Robert: Bob, Rob", a name and its nicknames; only a lens file of the command line may name a list'
/** The shipped lists have 1,400. */
const max_groups = 2_000

export const nameOptionFields = {
  phonetics: z
    .array(oneOf('phonetic algorithm', phoneticNames))
    .min(1)
    .max(phoneticNames.length)
    .optional()
    .describe(
      'algorithms by which names sound alike, each also a blocking key; `phonetic` in a view is the first. Default: metaphone',
    ),
  particles: z
    .boolean()
    .optional()
    .describe(
      'whether particles of names, such as `van der`, may be joined, moved or left out; the name without them is a blocking key',
    ),
  nicknames: z
    .array(
      z
        .string()
        .max(1_024, only_groups)
        .regex(/^[^:]+:[^:]+$/, only_groups),
      { error: () => only_groups },
    )
    .min(1)
    .max(max_groups)
    .optional()
    .describe(
      'names, each with a colon and its nicknames, which are alike; a lens file names lists of them instead: `nicknames: english`',
    ),
}

/** Returns how the names of a field are compared and blocked. */
export function readNameOptions({
  phonetics = [...defaultNameOptions.phonetics],
  particles = defaultNameOptions.hasParticles,
  nicknames,
}: Partial<z.infer<z.ZodObject<typeof nameOptionFields>>>): NameOptions {
  return { phonetics, hasParticles: particles, nicknames }
}
