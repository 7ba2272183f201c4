// A key set in a file that was carried here: what it holds, and whether people could pin it.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { digestOf, keySetFile, keySetIn } from '../../kernel/key-set.ts'
import { ownFault, type Verified } from '../../kernel/key-succession.ts'
import type { Jws } from '../../kernel/keys.ts'
import { Objection } from './objection.ts'

/** Oldest first; undefined for text that is no key set file. */
export function setsIn(text: string): Jws[] | undefined {
  try {
    return keySetFile.safeParse(JSON.parse(text)).data?.sets
  } catch {
    return undefined
  }
}

/** The newest, signed by its own root keys. Throws `Objection` for one that is not. */
export async function newestIn(sets: readonly Jws[]): Promise<Verified> {
  const last = sets.at(-1)
  const set = last && keySetIn(last)
  if (!last || !set) throw new Objection(2, 'the file holds no key set')
  const fault = await ownFault(set, last, { signatures: { verify: verifyJws } })
  if (fault) throw new Objection(3, fault.message)
  return { set, digest: digestOf(last) }
}
