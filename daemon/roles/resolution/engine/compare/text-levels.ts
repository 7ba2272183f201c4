// Levels of texts: the larger cosine of words and of trigrams, with thresholds at .95, .85 and so on down to .05.
import type { DictionaryColumn } from '../text/dictionary.ts'
import { measureCosine } from './measures.ts'
import type { LevelClassifier } from './type-levels.ts'

const text_level_count = 11

export function createTextLevels({ dictionary }: DictionaryColumn): LevelClassifier {
  const cosineOf = measureCosine(dictionary)
  return {
    count: text_level_count,
    levelOf: (left, right) => {
      const cosine = cosineOf(left, right)
      return Math.min(text_level_count - 1, Math.max(0, Math.ceil((0.95 - cosine) * 10 - 1e-9)))
    },
  }
}
