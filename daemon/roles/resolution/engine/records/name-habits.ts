// Habits of writing names that a column has, and the options of a field that suit them.
import type { LensField } from '../../lens/field.ts'
import { latinForm } from '../text/latin-form.ts'
import { normaliseWords } from '../text/normalise.ts'
import { readParticles } from '../text/particles.ts'
import { findScripts, unvowelled_scripts } from '../text/scripts.ts'

export type NameHabits = Pick<LensField, 'phonetics' | 'particles'>

/** Share of values with a habit: below it, the option costs more comparisons than it finds. */
const min_share = 0.02
const max_sampled_values = 2_000
const max_read_characters = 200

/** Finds the habits of a column of names. `texts`: the distinct values. */
export function findNameHabits(texts: readonly string[]): NameHabits {
  const step = Math.max(1, Math.floor(texts.length / max_sampled_values))
  const sampled = texts
    .filter((_, at) => at % step === 0)
    .slice(0, max_sampled_values)
    .map((text) => normaliseWords(text.slice(0, max_read_characters)))
  const isShare = (count: number) => count > 0 && count >= min_share * sampled.length
  const withParticles = sampled.filter((value) => {
    const latin = latinForm(value)
    return latin.includes(' ') && readParticles(latin).core !== latin
  })
  const unvowelled = sampled.filter((value) => {
    const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at))
    return (findScripts(units, 0, units.length) & unvowelled_scripts) !== 0
  })
  return {
    ...(isShare(unvowelled.length) ? { phonetics: ['metaphone', 'consonants'] } : {}),
    ...(isShare(withParticles.length) ? { particles: true } : {}),
  }
}
