// Levels of values in several scripts: values of one script as they are written, others by their Latin forms.
import { defaultNameOptions, type PhoneticName } from '../../lens/phonetics.ts'
import { buildDictionary, type Dictionary, type DictionaryColumn, decodeText } from '../text/dictionary.ts'
import { readLatinForms } from '../text/latin-form.ts'
import { han_script, unvowelled_scripts } from '../text/scripts.ts'
import { createLensLevels } from './lens-levels.ts'
import { createNameLevels } from './name-levels.ts'
import type { FieldColumn } from './pair-comparer.ts'
import { createTextLevels } from './text-levels.ts'
import { createTypeLevels, type LevelClassifier } from './type-levels.ts'

type FieldRule = Pick<FieldColumn, 'type' | 'levels' | 'q' | 'names'>

/** Types whose values are words: they have a Latin form. */
const wordTypes: ReadonlySet<string> = new Set(['name', 'place', 'text'])

/**
 * Creates the levels of a field. Values with equal Latin forms are at best the level after equality: the original
 * script is evidence. A column of ASCII values is compared as it is.
 */
export function createScriptLevels(column: DictionaryColumn, rule: FieldRule): LevelClassifier {
  const forms = wordTypes.has(rule.type) ? readLatinForms(column.dictionary) : undefined
  if (!forms) return createLevels(column, column.dictionary, rule, [])
  const { scripts, latin } = forms
  const latinColumn = { ...column, dictionary: latin }
  const within = createLevels(column, silenceHan(latin, scripts), rule, [])
  const readAcross = createOnce(() => createLevels(latinColumn, latin, rule, []))
  // A script without vowels has only consonants in common with other spellings.
  const readUnvowelled = readsSounds(rule)
    ? createOnce(() => createLevels(latinColumn, latin, rule, ['consonants']))
    : readAcross
  return {
    count: within.count,
    levelOf: (a, b) => {
      const [left, right] = [scripts[a]!, scripts[b]!]
      if (left === right) return within.levelOf(a, b)
      const levels = ((left | right) & unvowelled_scripts) === 0 ? readAcross() : readUnvowelled()
      return levels.levelOf(a, b) || 1
    },
  }
}

/** Creates levels at their first use: most columns of several scripts have few pairs across them. */
function createOnce(create: () => LevelClassifier): () => LevelClassifier {
  let levels: LevelClassifier | undefined
  return () => {
    levels ??= create()
    return levels
  }
}

/** Whether the levels depend on how values sound; a level of a lens may, by its measure or view. */
function readsSounds({ type, levels }: FieldRule): boolean {
  return levels !== undefined || type === 'name' || type === 'place'
}

/** `heard`: the values in Latin form. */
function createLevels(
  column: DictionaryColumn,
  heard: Dictionary,
  { type, levels, q = 2, names = defaultNameOptions }: FieldRule,
  more: readonly PhoneticName[],
): LevelClassifier {
  const phonetics = [...names.phonetics, ...more]
  if (levels) return createLensLevels(column, levels, { q, phonetics, heard })
  if (type === 'name' || type === 'place') return createNameLevels(column, heard, { ...names, phonetics })
  return type === 'text' ? createTextLevels(column) : createTypeLevels(type, column)
}

/** Many Han characters sound alike: between two values in Han, an equal sound says little. */
function silenceHan(latin: Dictionary, scripts: Int32Array): Dictionary {
  if (scripts.every((bits) => (bits & han_script) === 0)) return latin
  const isHeard = (code: number) => (scripts[code]! & han_script) === 0
  const heard = Array.from({ length: latin.size }, (_, code) => (isHeard(code) ? decodeText(latin, code) : ''))
  return buildDictionary(heard)
}
