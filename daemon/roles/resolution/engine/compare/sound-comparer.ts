// Whether two values sound alike by one of the algorithms of a field.
import type { PhoneticName } from '../../lens/phonetics.ts'
import { type Dictionary, DictionaryBuilder, decodeText } from '../text/dictionary.ts'
import { computeSoundSignature, metaphone } from '../text/metaphone.ts'
import { listSounds } from '../text/phonetics/sounds.ts'

/** Tests two values by code. */
export type SoundComparer = (a: number, b: number) => boolean

/** Creates a test for an equal sound by any of the algorithms. `latin`: the values in Latin form. */
export function createSoundComparer(latin: Dictionary, phonetics: readonly PhoneticName[]): SoundComparer {
  const comparers = phonetics.map((name) =>
    name === 'metaphone' ? createMetaphoneComparer(latin) : createListComparer(latin, name),
  )
  const [only] = comparers
  return only && comparers.length === 1 ? only : (a, b) => comparers.some((isSameSound) => isSameSound(a, b))
}

const not_computed = -2

/** A signature excludes nearly all pairs, so that the sound of a value is computed only when needed. */
function createMetaphoneComparer(dictionary: Dictionary): SoundComparer {
  const { size, units, starts } = dictionary
  const builder = new DictionaryBuilder()
  const sounds = new Int32Array(size).fill(not_computed)
  const signatures = new Int32Array(size)
  for (let code = 0; code < size; code++)
    signatures[code] = computeSoundSignature(units, starts[code]!, starts[code + 1]!)
  const soundOf = (code: number) => {
    if (sounds[code] === not_computed) sounds[code] = builder.add(metaphone(decodeText(dictionary, code)))
    return sounds[code]!
  }
  return (a, b) => signatures[a] === signatures[b] && soundOf(a) >= 0 && soundOf(a) === soundOf(b)
}

/** Most sounds that an algorithm gives for one value. */
const max_sounds = 2

/** Compares the numbers of up to two sounds of each value, computed when first needed. */
function createListComparer(dictionary: Dictionary, name: PhoneticName): SoundComparer {
  const builder = new DictionaryBuilder()
  const sounds = new Int32Array(dictionary.size * max_sounds).fill(not_computed)
  const read = (code: number) => {
    const at = code * max_sounds
    if (sounds[at] !== not_computed) return
    const [first = '', second = first] = listSounds(name, decodeText(dictionary, code))
    sounds[at] = builder.add(first)
    sounds[at + 1] = builder.add(second)
  }
  return (a, b) => {
    read(a)
    read(b)
    const [first, second] = [sounds[a * max_sounds]!, sounds[a * max_sounds + 1]!]
    const [other, last] = [sounds[b * max_sounds]!, sounds[b * max_sounds + 1]!]
    if (first < 0 || other < 0) return false
    return first === other || first === last || second === other || second === last
  }
}
