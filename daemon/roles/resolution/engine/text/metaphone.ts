// Metaphone: the sound of an English word, after Lawrence Philips, "Hanging on the Metaphone", Computer Language,
// December 1990.

import { max_compared_characters } from '../../lens/comparison.ts'

const vowels = 'aeiou'
const softeningVowels = 'eiy'
const [a, e] = [97, 101]

/** Letters that the sound always contains as in the text, in the same order, doubled ones once. */
const always_heard = 'lmnr'
/** Kind of each code unit: from 1 on for always heard letters, 0 for other letters, -1 for anything else. */
const letterKinds = Int8Array.from({ length: 128 }, (_, unit) => {
  const letter = String.fromCharCode(unit)
  return /[a-z]/.test(letter) ? always_heard.indexOf(letter) + 1 : -1
})

/**
 * Computes a number that texts with the same sound share, and few others: from the always heard letters and the initial
 * vowel. The text is `units[from]` to `units[to]`.
 */
export function computeSoundSignature(units: Uint16Array, from: number, to: number): number {
  let [signature, before, letters, first] = [0, 0, 0, 0]
  for (let at = from; at < to; at++) {
    const unit = units[at]!
    const kind = unit < 128 ? letterKinds[unit]! : -1
    if (kind < 0 || unit === before) continue
    before = unit
    letters++
    if (letters === 1 || (letters === 2 && first === a && unit === e)) first = unit
    if (kind > 0) signature = Math.imul(signature, 5) + kind
  }
  return Math.imul(signature, 32) + (vowels.includes(String.fromCharCode(first)) ? first - a + 1 : 0)
}

/**
 * Computes the sound of the letters a to z among the first characters of a lower-case text, ignoring others. Empty
 * without letters.
 */
export function metaphone(text: string): string {
  const word = dropSilentStart(
    text
      .slice(0, max_compared_characters)
      .replace(/[^a-z]/g, '')
      .replace(/([abd-z])\1+/g, '$1'),
  )
  let sound = ''
  for (let at = 0; at < word.length; ) {
    const [letters, length] = readSound(word, at)
    sound += letters
    at += length
  }
  return sound
}

function dropSilentStart(word: string): string {
  if (/^(ae|gn|kn|pn|wr)/.test(word)) return word.slice(1)
  if (word.startsWith('x')) return `s${word.slice(1)}`
  return word.startsWith('wh') ? `w${word.slice(2)}` : word
}

/** Reads the sound at a position, and the number of letters of it. */
function readSound(word: string, at: number): [string, number] {
  const letter = word[at] ?? ''
  const next = word[at + 1] ?? ''
  if (vowels.includes(letter)) return [at === 0 ? letter : '', 1]
  switch (letter) {
    case 'b':
      return [at === word.length - 1 && word[at - 1] === 'm' ? '' : 'b', 1]
    case 'c':
      return readSoundOfC(word, at, next)
    case 'd':
      return next === 'g' && softeningVowels.includes(word[at + 2] ?? ' ') ? ['j', 2] : ['t', 1]
    case 'g':
      return readSoundOfG(word, at, next)
    case 'h':
      return [vowels.includes(next || ' ') && !'csptg'.includes(word[at - 1] ?? ' ') ? 'h' : '', 1]
    case 'k':
      return [word[at - 1] === 'c' ? '' : 'k', 1]
    case 'p':
      return next === 'h' ? ['f', 2] : ['p', 1]
    case 'q':
      return ['k', 1]
    case 's':
      return readSoundOfS(word, at, next)
    case 't':
      return readSoundOfT(word, at, next)
    case 'v':
      return ['f', 1]
    case 'w':
    case 'y':
      return [vowels.includes(next || ' ') ? letter : '', 1]
    case 'x':
      return ['ks', 1]
    case 'z':
      return ['s', 1]
    default:
      return [letter, 1]
  }
}

function readSoundOfC(word: string, at: number, next: string): [string, number] {
  if (next === 'h') return [word[at - 1] === 's' ? 'k' : 'x', 2]
  if (next === 'i' && word[at + 2] === 'a') return ['x', 1]
  return [softeningVowels.includes(next || ' ') ? (word[at - 1] === 's' ? '' : 's') : 'k', 1]
}

function readSoundOfG(word: string, at: number, next: string): [string, number] {
  if (next === 'h') {
    const after = word[at + 2] ?? ''
    return after === '' || !vowels.includes(after) ? ['', 2] : ['k', 2]
  }
  if (next === 'n' && /^gn(ed)?$/.test(word.slice(at))) return ['', 1]
  return [softeningVowels.includes(next || ' ') ? 'j' : 'k', 1]
}

function readSoundOfS(word: string, at: number, next: string): [string, number] {
  if (next === 'h') return ['x', 2]
  return [next === 'i' && 'ao'.includes(word[at + 2] ?? ' ') ? 'x' : 's', 1]
}

function readSoundOfT(word: string, at: number, next: string): [string, number] {
  if (next === 'h') return ['0', 2]
  if (next === 'i' && 'ao'.includes(word[at + 2] ?? ' ')) return ['x', 1]
  return next === 'c' && word[at + 2] === 'h' ? ['', 1] : ['t', 1]
}
