// Options of a field of names: sounds, particles and nicknames.
import * as z from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { normaliseWords } from '../engine/text/normalise.ts'
import { oneOf } from './known-words.ts'
import { defaultNameOptions, type NameOptions, phoneticNames } from './phonetics.ts'

function describeNicknames({ input }: { readonly input?: unknown }): string | undefined {
  if (typeof input !== 'string') return undefined
  return 'must be groups of names, such as [[Robert, Bob], [Margaret, Peggy]]; only a lens file of the command line may name a list'
}

/** Two names are compared by the groups that they share. */
const max_groups_of_name = 64

function checkGroupsOfNames(groups: readonly (readonly string[])[], context: z.RefinementCtx): void {
  if (groups.length <= max_groups_of_name) return
  const counts = new Map<string, number>()
  for (const [at, group] of groups.entries()) {
    for (const name of new Set(group.map(normaliseWords))) {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      if (count <= max_groups_of_name) continue
      const message = `has ${JSON.stringify(name)}, which is in ${max_groups_of_name} groups before; a name may be in at most ${max_groups_of_name}`
      context.addIssue({ code: 'custom', path: [at], message })
      return
    }
  }
}

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
    .array(z.array(requiredText(64)).min(2).max(64), { error: describeNicknames })
    .min(1)
    .max(5_000)
    .superRefine(checkGroupsOfNames)
    .optional()
    .describe(
      'groups of a name and its nicknames, which are alike; a lens file names lists of them instead: `nicknames: english`',
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
