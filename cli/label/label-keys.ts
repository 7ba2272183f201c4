// Keys of the screen for labels.
import type { LabelAnswer } from './label-dialogue.ts'

export type LabelAction = LabelAnswer | 'undo' | 'quit' | 'help'

const actions: Readonly<Record<string, LabelAction>> = {
  y: 'match',
  n: 'no_match',
  s: 'unsure',
  u: 'unsure',
  z: 'undo',
  backspace: 'undo',
  q: 'quit',
  '?': 'help',
}

/** Action of a key; undefined for one that does nothing. */
export function readAction(key: string): LabelAction | undefined {
  return actions[key.toLowerCase()]
}

/** Names of the keys in one event of the terminal. A burst of keys arrives as one text; chords do nothing. */
export function readPressedKeys(input: string, key: Readonly<Record<string, unknown>>): string[] {
  if (key.ctrl || key.meta) return []
  if (key.backspace || key.delete) return ['backspace']
  return [...input].map((character) => (character === '\u007f' || character === '\b' ? 'backspace' : character))
}

export const key_hints = 'y match  n no match  s unsure  z undo  q quit  ? help'

export const labelHelp: readonly string[] = [
  'y            the two records are one: a match',
  'n            they are not',
  's or u       unsure: the pair is not shown again, and does not count',
  'z backspace  take the last answer back',
  'q            quit; every answer is kept, and the same command continues',
  '',
  '= equal, ~ alike, ! different, and nothing where a value is missing.',
  'Words that the other record lacks are inverse.',
]
