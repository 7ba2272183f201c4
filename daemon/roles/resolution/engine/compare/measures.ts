// How alike two values of a dictionary are, by each measure that a lens may name; higher is more alike.
import type { MeasureName } from '../../lens/comparison.ts'
import { type Dictionary, textOf } from '../text/dictionary.ts'
import { Matcher } from '../text/matcher.ts'
import { metaphone } from '../text/metaphone.ts'
import { trigrams, words } from '../text/parts.ts'
import { cosine, vectorsOf } from '../text/vectors.ts'
import { daysOf, distance_km, locationOf } from './quantities.ts'
import { inCommon, overlapOf, setsOf } from './sets.ts'

/** Of two different values by number; what cannot be told is no number, and fits no level. */
export type Measure = (a: number, b: number) => number

/** `least`: what is below it need not be told apart. `q`: letters in a row, for `qgram_jaccard`. */
export function measureOf(name: MeasureName, dictionary: Dictionary, least: number, q: number): Measure {
  switch (name) {
    case 'equal':
      return () => 0
    case 'jaro_winkler':
      return winkler(new Matcher(dictionary), least)
    case 'levenshtein':
      return edits(new Matcher(dictionary, 'no swaps'), -least)
    case 'damerau_levenshtein':
      return edits(new Matcher(dictionary), -least)
    case 'levenshtein_part':
      return partEqual(new Matcher(dictionary, 'no swaps'), least)
    case 'damerau_levenshtein_part':
      return partEqual(new Matcher(dictionary), least)
    case 'qgram_jaccard':
      return jaccard(dictionary, q)
    case 'tfidf_cosine':
      return cosines(dictionary)
    case 'sound':
      return sounds(dictionary)
    case 'difference':
    case 'difference_part':
      return differences(dictionary, name === 'difference_part')
    case 'days':
      return days(dictionary)
    case 'kilometres':
      return kilometres(dictionary)
    case 'overlap':
    case 'in_common':
      return overlaps(dictionary, name === 'overlap')
  }
}

export function textsIn(dictionary: Dictionary): string[] {
  return Array.from({ length: dictionary.size }, (_, code) => textOf(dictionary, code))
}

function winkler(matcher: Matcher, least: number): Measure {
  return (a, b) => matcher.winkler(a, b, least)
}

function edits(matcher: Matcher, most: number): Measure {
  return (a, b) => -matcher.distance(a, b, most)
}

/** One less the edits as a part of the longer value. */
function partEqual(matcher: Matcher, least: number): Measure {
  return (a, b) => {
    const longest = Math.max(matcher.lengthOf(a), matcher.lengthOf(b))
    const most = Math.floor(longest * (1 - least) + 1e-9)
    return 1 - matcher.distance(a, b, most) / longest
  }
}

function gramsOf(text: string, q: number): string[] {
  if (text.length <= q) return [text]
  return Array.from({ length: text.length - q + 1 }, (_, at) => text.slice(at, at + q))
}

/** What two sets of q-grams have in common, as a part of both together. */
function jaccard(dictionary: Dictionary, q: number): Measure {
  const sets = setsOf(textsIn(dictionary), (text) => gramsOf(text, q))
  return (a, b) => {
    const both = inCommon(sets, a, b)
    const all = sets.starts[a + 1]! - sets.starts[a]! + (sets.starts[b + 1]! - sets.starts[b]!) - both
    return both / all
  }
}

/** The larger of the cosines of words and of trigrams. */
function cosines(dictionary: Dictionary): Measure {
  const texts = textsIn(dictionary)
  const byWord = vectorsOf(texts, words())
  const byGram = vectorsOf(texts, trigrams())
  return (a, b) => Math.max(cosine(byWord, a, b), cosine(byGram, a, b))
}

function sounds(dictionary: Dictionary): Measure {
  const numbers = new Map<string, number>()
  const of = Int32Array.from(textsIn(dictionary), (text) => {
    const sound = metaphone(text)
    if (sound === '') return -1
    if (!numbers.has(sound)) numbers.set(sound, numbers.size)
    return numbers.get(sound)!
  })
  return (a, b) => (of[a]! >= 0 && of[a] === of[b] ? 1 : 0)
}

function differences(dictionary: Dictionary, isPart: boolean): Measure {
  const values = Float64Array.from(textsIn(dictionary), Number)
  if (!isPart) return (a, b) => -Math.abs(values[a]! - values[b]!)
  return (a, b) => -Math.abs(values[a]! - values[b]!) / Math.max(Math.abs(values[a]!), Math.abs(values[b]!))
}

function days(dictionary: Dictionary): Measure {
  const values = Float64Array.from(textsIn(dictionary), daysOf)
  return (a, b) => -Math.abs(values[a]! - values[b]!)
}

function kilometres(dictionary: Dictionary): Measure {
  const places = textsIn(dictionary).map(locationOf)
  const latitudes = Float64Array.from(places, ([latitude]) => latitude)
  const longitudes = Float64Array.from(places, ([, longitude]) => longitude)
  return (a, b) => -distance_km(latitudes[a]!, longitudes[a]!, latitudes[b]!, longitudes[b]!)
}

function overlaps(dictionary: Dictionary, isPart: boolean): Measure {
  const sets = setsOf(textsIn(dictionary), (text) => text.split('|'))
  return isPart ? (a, b) => overlapOf(sets, a, b) : (a, b) => inCommon(sets, a, b)
}
