// Levels of names of people and places: a typing error, the same sound, a short form, then decreasing similarity.
import type { NameOptions } from '../../lens/phonetics.ts'
import { type Dictionary, DictionaryBuilder, type DictionaryColumn, decodeText } from '../text/dictionary.ts'
import { readNicknames } from '../text/nicknames.ts'
import { readParticles } from '../text/particles.ts'
import { StringMatcher } from '../text/string-matcher.ts'
import { createSoundComparer, type SoundComparer } from './sound-comparer.ts'
import type { LevelClassifier } from './type-levels.ts'

/** The levels of names: `near` for one name in other spelling, `alike` for the same sound, or a form of it. */
const [near, alike, somewhat_alike, little_alike, different] = [1, 2, 3, 4, 5]

/** `heard`: the values in Latin form. */
export function createNameLevels(
  { dictionary }: DictionaryColumn,
  heard: Dictionary,
  names: NameOptions,
): LevelClassifier {
  const matcher = new StringMatcher(dictionary)
  const isSameSound: SoundComparer = createSoundComparer(heard, names.phonetics)
  const levelOfForms = createFormLevels(heard, names)
  const levelOf = (a: number, b: number) => {
    const least = Math.min(matcher.lengthOf(a), matcher.lengthOf(b))
    const winkler = matcher.jaroWinkler(a, b, 0.7)
    if (winkler >= 0.94) return near
    const distance = matcher.distance(a, b, 2)
    if (distance <= 1 && least >= 4) return near
    if (winkler >= 0.88 || (distance <= 1 && least >= 3)) return alike
    if (isSameSound(a, b)) return alike
    if (least >= 3 && matcher.commonPrefix(a, b, least) === least) return alike
    if (winkler >= 0.8 || (distance <= 2 && least >= 5)) return somewhat_alike
    return winkler >= 0.7 ? little_alike : different
  }
  if (!levelOfForms) return { count: 6, levelOf }
  return {
    count: 6,
    levelOf(a, b) {
      const level = levelOf(a, b)
      return level === near ? near : Math.min(level, levelOfForms(a, b))
    },
  }
}

/** The level by particles and nicknames: `near` if only spaces and order differ, `alike` without particles or by nickname. */
function createFormLevels(
  heard: Dictionary,
  { hasParticles, nicknames }: NameOptions,
): ((a: number, b: number) => number) | undefined {
  const byParticles = hasParticles ? createParticleLevels(heard) : undefined
  const index = nicknames && readNicknames(nicknames)
  if (!index) return byParticles
  return (a, b) => {
    const level = byParticles?.(a, b) ?? different
    if (level <= alike) return level
    return index.areNicknames(decodeText(heard, a), decodeText(heard, b)) ? alike : level
  }
}

function createParticleLevels(heard: Dictionary): (a: number, b: number) => number {
  const [joined, cores] = [new DictionaryBuilder(), new DictionaryBuilder()]
  const joinedOf = new Int32Array(heard.size)
  const coreOf = new Int32Array(heard.size)
  for (let code = 0; code < heard.size; code++) {
    const forms = readParticles(decodeText(heard, code))
    joinedOf[code] = joined.add(forms.joined)
    coreOf[code] = cores.add(forms.core)
  }
  return (a, b) => {
    if (joinedOf[a]! >= 0 && joinedOf[a] === joinedOf[b]) return near
    return coreOf[a]! >= 0 && coreOf[a] === coreOf[b] ? alike : different
  }
}
