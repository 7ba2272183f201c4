// The sounds of a value by each algorithm that a lens may name; none for a value without letters.
import { doubleMetaphone } from 'double-metaphone'
import { max_compared_characters } from '../../../lens/comparison.ts'
import type { PhoneticName } from '../../../lens/phonetics.ts'
import { latinForm } from '../latin-form.ts'
import { metaphone } from '../metaphone.ts'
import { cologne } from './cologne.ts'
import { consonants } from './consonants.ts'
import { soundex } from './soundex.ts'

/** Reads the sounds of a Latin form, the most likely first. */
const algorithms: Readonly<Record<PhoneticName, (latin: string) => readonly string[]>> = {
  metaphone: (latin) => [metaphone(latin)],
  double_metaphone: (latin) => doubleMetaphone(latin.replace(/[^a-z]/g, '')),
  soundex: (latin) => [soundex(latin)],
  cologne: (latin) => [cologne(latin)],
  consonants: (latin) => [consonants(latin)],
}

/** Lists the distinct sounds of a Latin form. */
export function listSounds(name: PhoneticName, latin: string): string[] {
  const sounds = algorithms[name](latin.slice(0, max_compared_characters))
  return [...new Set(sounds)].filter((sound) => sound !== '')
}

/** Reads the most likely sound of a value in any script; empty without one. */
export function readSound(name: PhoneticName, value: string): string {
  const latin = latinForm(value)
  return name === 'metaphone' ? metaphone(latin) : (listSounds(name, latin)[0] ?? '')
}
