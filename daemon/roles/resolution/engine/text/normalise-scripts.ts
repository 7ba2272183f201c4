// Normal forms beyond Latin, Greek and Cyrillic: one form for letters and digits that are written in several ways.

/**
 * Scripts with rules: Hebrew and Arabic; those of India, Thai, Lao, Tibetan, Burmese and Khmer, whose vowels are marks;
 * Kana, whose voiced letters have a mark; and digits of any script but those of ASCII.
 */
const scriptRules =
  /[\u0590-\u08ff\u0900-\u109f\u1780-\u17ff\u3041-\u30ff\uff66-\uff9f\ufb1d-\ufdff\ufe70-\ufefc]|\p{Nd}/u

/** Whether the text has letters or digits whose normal form `normaliseScripts` gives. */
export function hasScriptRules(text: string): boolean {
  return !isAscii(text) && scriptRules.test(text.replace(/[0-9]+/g, ''))
}

/** More marks than a letter of any language has: each further one costs the square of its number to normalise. */
const max_marks = 30
const longRun = new RegExp(`(\\p{M}{${max_marks}})\\p{M}+`, 'gu')

/** Cuts runs of marks, as the stream-safe format of Unicode (UAX 15) does. */
export function limitMarks(text: string): string {
  return isAscii(text) ? text : text.replace(longRun, '$1')
}

/** Letters that stand for one another: Arabic and Persian kaf, yeh and heh, and the two ways to write alef maksura. */
const arabicLetters: Readonly<Record<string, string>> = {
  ک: 'ك',
  ی: 'ي',
  ى: 'ي',
  ې: 'ي',
  ة: 'ه',
  ۀ: 'ه',
  ہ: 'ه',
  ھ: 'ه',
  ە: 'ه',
  ٱ: 'ا',
}
const arabicLetter = new RegExp(`[${Object.keys(arabicLetters).join('')}]`, 'g')
/** Accents, the points of Hebrew and Arabic, signs that choose a variant: written by some and left out by others. */
const optionalMarks =
  /(?:[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u08d3-\u08ff]|[\u20d0-\u20ff]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}])+/gu
/** Stretches an Arabic word. */
const tatweel = /\u0640+/g
/** Characters without width: joiners and signs of direction. */
const invisible = /\p{Cf}+/gu

/** Normalises the words of a text as `normaliseWords` does, by the rules of its scripts. */
export function normaliseScripts(text: string): string {
  const plain = limitMarks(text)
    .normalize('NFKD')
    .replace(invisible, '')
    .replace(optionalMarks, '')
    .replace(tatweel, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(arabicLetter, (letter) => arabicLetters[letter] ?? letter)
  const form = keepWords(foldDigits(plain))
  // Digits or signs alone had a rule: the letters have none, and lose their marks as they do without such a digit.
  return hasScriptRules(form) ? form : keepWords(form.replace(/\p{M}+/gu, ''))
}

function keepWords(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ').trim()
}

/** Replaces the decimal digits of all scripts with those of ASCII. */
export function foldDigits(text: string): string {
  if (isAscii(text)) return text
  return text.replace(/\P{ASCII}/gu, (letter) => (/\p{Nd}/u.test(letter) ? String(readDigit(letter)) : letter))
}

/** The digits of a script are consecutive code points, and the one before its zero is none, or the nine of another. */
function readDigit(letter: string): number {
  const form = letter.normalize('NFKD')
  if (/^[0-9]$/.test(form)) return Number(form)
  let value = 0
  for (let code_point = (letter.codePointAt(0) ?? 0) - 1; value < 9 && isDigit(code_point); code_point--) value++
  return value
}

function isDigit(code_point: number): boolean {
  return /\p{Nd}/u.test(String.fromCodePoint(code_point))
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}
