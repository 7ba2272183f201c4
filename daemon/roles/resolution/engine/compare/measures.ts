// Similarity of two values of a dictionary, by each measure that a lens may name; higher is more similar.
import type { MeasureName } from '../../lens/comparison.ts'
import type { PhoneticName } from '../../lens/phonetics.ts'
import { type Dictionary, decodeText } from '../text/dictionary.ts'
import { StringMatcher } from '../text/string-matcher.ts'
import { buildTfidfVectors, computeCosine } from '../text/tfidf-vectors.ts'
import { createTrigramTokeniser, createWordTokeniser } from '../text/tokeniser.ts'
import { computeDistance_km, parseDays, parseLocation } from './quantities.ts'
import { buildValueSets, computeOverlap, countCommonParts } from './sets.ts'
import { createSoundComparer } from './sound-comparer.ts'

/** Measures the similarity of two different values by code; NaN, which reaches no level, if it is undefined. */
export type ValueMeasure = (a: number, b: number) => number

/** Options of some measures: letters per gram, algorithms of sounds, and the values in Latin form, from which sounds are computed. */
export type MeasureOptions = {
  readonly q: number
  readonly phonetics: readonly PhoneticName[]
  readonly heard: Dictionary
}

/** Creates a measure. `least`: similarities below it may be equal. */
export function createMeasure(
  name: MeasureName,
  dictionary: Dictionary,
  least: number,
  { q, phonetics, heard }: MeasureOptions,
): ValueMeasure {
  switch (name) {
    case 'equal':
      return () => 0
    case 'jaro_winkler':
      return measureJaroWinkler(new StringMatcher(dictionary), least)
    case 'levenshtein':
      return measureEdits(new StringMatcher(dictionary, 'no_swaps'), -least)
    case 'damerau_levenshtein':
      return measureEdits(new StringMatcher(dictionary), -least)
    case 'levenshtein_part':
      return measureEditShare(new StringMatcher(dictionary, 'no_swaps'), least)
    case 'damerau_levenshtein_part':
      return measureEditShare(new StringMatcher(dictionary), least)
    case 'qgram_jaccard':
      return measureJaccard(dictionary, q)
    case 'tfidf_cosine':
      return measureCosine(dictionary)
    case 'sound':
      return measureSound(heard, phonetics)
    case 'difference':
    case 'difference_part':
      return measureDifference(dictionary, name === 'difference_part')
    case 'days':
      return measureDays(dictionary)
    case 'kilometres':
      return measureKilometres(dictionary)
    case 'overlap':
    case 'in_common':
      return measureOverlap(dictionary, name === 'overlap')
  }
}

function listTexts(dictionary: Dictionary): string[] {
  return Array.from({ length: dictionary.size }, (_, code) => decodeText(dictionary, code))
}

function measureJaroWinkler(matcher: StringMatcher, least: number): ValueMeasure {
  return (a, b) => matcher.jaroWinkler(a, b, least)
}

function measureEdits(matcher: StringMatcher, max_distance: number): ValueMeasure {
  return (a, b) => -matcher.distance(a, b, max_distance)
}

/** Measures 1 minus the share of edits in the longer value. */
function measureEditShare(matcher: StringMatcher, least: number): ValueMeasure {
  return (a, b) => {
    const longest = Math.max(matcher.lengthOf(a), matcher.lengthOf(b))
    const max_distance = Math.floor(longest * (1 - least) + 1e-9)
    return 1 - matcher.distance(a, b, max_distance) / longest
  }
}

function splitGrams(text: string, q: number): string[] {
  if (text.length <= q) return [text]
  return Array.from({ length: text.length - q + 1 }, (_, at) => text.slice(at, at + q))
}

/** Measures common q-grams as a share of the q-grams of both values. */
function measureJaccard(dictionary: Dictionary, q: number): ValueMeasure {
  const sets = buildValueSets(listTexts(dictionary), (text) => splitGrams(text, q))
  return (a, b) => {
    const common = countCommonParts(sets, a, b)
    const all = sets.starts[a + 1]! - sets.starts[a]! + (sets.starts[b + 1]! - sets.starts[b]!) - common
    return common / all
  }
}

/** Measures the larger of the cosines of words and of trigrams. */
export function measureCosine(dictionary: Dictionary): ValueMeasure {
  const texts = listTexts(dictionary)
  const byWord = buildTfidfVectors(texts, createWordTokeniser())
  const byGram = buildTfidfVectors(texts, createTrigramTokeniser())
  return (a, b) => Math.max(computeCosine(byWord, a, b), computeCosine(byGram, a, b))
}

function measureSound(heard: Dictionary, phonetics: readonly PhoneticName[]): ValueMeasure {
  const isSameSound = createSoundComparer(heard, phonetics)
  return (a, b) => (isSameSound(a, b) ? 1 : 0)
}

function measureDifference(dictionary: Dictionary, isPart: boolean): ValueMeasure {
  const values = Float64Array.from(listTexts(dictionary), Number)
  if (!isPart) return (a, b) => -Math.abs(values[a]! - values[b]!)
  return (a, b) => -Math.abs(values[a]! - values[b]!) / Math.max(Math.abs(values[a]!), Math.abs(values[b]!))
}

function measureDays(dictionary: Dictionary): ValueMeasure {
  const values = Float64Array.from(listTexts(dictionary), parseDays)
  return (a, b) => -Math.abs(values[a]! - values[b]!)
}

function measureKilometres(dictionary: Dictionary): ValueMeasure {
  const locations = listTexts(dictionary).map(parseLocation)
  const latitudes = Float64Array.from(locations, ([latitude]) => latitude)
  const longitudes = Float64Array.from(locations, ([, longitude]) => longitude)
  return (a, b) => -computeDistance_km(latitudes[a]!, longitudes[a]!, latitudes[b]!, longitudes[b]!)
}

function measureOverlap(dictionary: Dictionary, isPart: boolean): ValueMeasure {
  const sets = buildValueSets(listTexts(dictionary), (text) => text.split('|'))
  return isPart ? (a, b) => computeOverlap(sets, a, b) : (a, b) => countCommonParts(sets, a, b)
}
