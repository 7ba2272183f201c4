// The terms of a text, by which tools are found: words in their stem, without those that say nothing about a subject.

/** Of one text; the rest of a longer one is not read. */
const max_characters = 4_096
const max_terms = 512

const stopWords: ReadonlySet<string> = new Set(
  (
    'a about again all already an and any are as at be been by can could did do does each either for from give had has have hello hi how i if in ' +
    'into is it its itself just know let like may me my need no not of on one only or our please see should show so some ' +
    'tell than that the their them then there these they this those to us view want was we were what when where which ' +
    'who will with without would you your display look right now currently exist it’s what’s'
  ).split(' '),
)

/** Words of people for those of the catalogue, both as stems. */
const synonyms: Readonly<Record<string, string>> = {
  abort: 'cancel',
  alarm: 'signal',
  alert: 'signal',
  ack: 'acknowledg',
  add: 'creat',
  begin: 'start',
  broke: 'error',
  crash: 'error',
  disagreement: 'dissent',
  erase: 'delet',
  fail: 'error',
  failur: 'error',
  halt: 'stop',
  healthy: 'health',
  launch: 'start',
  many: 'count',
  mute: 'silenc',
  remov: 'delet',
  stat: 'statistic',
  why: 'explain',
}

/** In their order, with repetitions. */
export function splitTerms(text: string): string[] {
  const words = text
    .slice(0, max_characters)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}’]+/gu)
  return (words ?? [])
    .filter((word) => word.length > 1 && !stopWords.has(word))
    .slice(0, max_terms)
    .map(stemWord)
    .map((stem) => (Object.hasOwn(synonyms, stem) ? (synonyms[stem] ?? stem) : stem))
}

/** Endings of English alone: forms of one word become equal, whether or not the stem is a word. */
function stemWord(word: string): string {
  const singular = word
    .replace(/’s?$/, '')
    .replace(/ies$/, 'y')
    .replace(/(ss|x|ch|sh)es$/, '$1')
    .replace(/([^sui])s$/, '$1')
  const stem = singular.length > 5 ? singular.replace(/(ing|ed)$/, '') : singular
  const single = stem === singular ? stem : stem.replace(/([^aeiouls])\1$/, '$1')
  return single.length > 3 ? single.replace(/e$/, '') : single
}
