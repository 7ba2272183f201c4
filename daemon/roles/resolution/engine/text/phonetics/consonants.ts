// The consonants of a Latin form: what a name in a script without vowels has in common with its Latin spellings.

const spellings: readonly (readonly [RegExp, string])[] = [
  [/ph/g, 'f'],
  [/([ckgst])h/g, '$1'],
  [/dh/g, 'd'],
  [/[cq]/g, 'k'],
  [/j/g, 'g'],
  [/[^a-z0-9]/g, ''],
  [/([^aeiouwy])\1+/g, '$1'],
  [/[aeiouwy]/g, ''],
  // Written and silent at the end of many names: Sarah, Fatimah.
  [/(.)h$/, '$1'],
  [/(.)\1+/g, '$1'],
]
const min_consonants = 2

/** Computes the consonants, several spellings of one alike; empty for fewer than two. */
export function consonants(text: string): string {
  const form = spellings.reduce((value, [pattern, spelling]) => value.replace(pattern, spelling), text)
  return form.length < min_consonants ? '' : form
}
