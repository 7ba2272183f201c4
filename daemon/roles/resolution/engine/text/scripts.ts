// The scripts of a normalised value, as bits: values of one script compare letter by letter, others by their Latin forms.

/** First and last code unit of each script; one that is not listed is `other_script`. */
const ranges: readonly (readonly [from: number, to: number, script: number])[] = [
  [0x80, 0x2af, 0], // Latin beyond ASCII
  [0x370, 0x3ff, 1],
  [0x1f00, 0x1fff, 1],
  [0x400, 0x52f, 2], // Cyrillic
  [0x530, 0x58f, 3],
  [0x590, 0x5ff, 4], // Hebrew
  [0x600, 0x6ff, 5], // Arabic
  [0x750, 0x77f, 5],
  [0x8a0, 0x8ff, 5],
  [0x900, 0x97f, 6], // Devanagari, and the other scripts of India in blocks of equal size
  [0x980, 0x9ff, 7],
  [0xa00, 0xa7f, 8],
  [0xa80, 0xaff, 9],
  [0xb00, 0xb7f, 10],
  [0xb80, 0xbff, 11],
  [0xc00, 0xc7f, 12],
  [0xc80, 0xcff, 13],
  [0xd00, 0xd7f, 14],
  [0xd80, 0xdff, 15],
  [0xe00, 0xe7f, 16], // Thai
  [0xe80, 0xeff, 17],
  [0xf00, 0xfff, 18],
  [0x1000, 0x109f, 19],
  [0x10a0, 0x10ff, 20],
  [0x1100, 0x11ff, 21], // Hangul, decomposed
  [0x1200, 0x139f, 22],
  [0x1780, 0x17ff, 23],
  [0x3040, 0x30ff, 24], // Kana
  [0x3400, 0x9fff, 25], // Han
  [0xf900, 0xfaff, 25],
  [0xd800, 0xdfff, 26], // Rare and historical letters, as surrogates
]
const other_script = 27

export const han_script = 1 << 25

/** Scripts that leave out all or some vowels: Hebrew, Arabic, those of India, Thai, Lao, Tibetan, Burmese, Khmer. */
const unvowelledScripts = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 23]
export const unvowelled_scripts = unvowelledScripts.reduce((bits, script) => bits | (1 << script), 0)

/** Returns the scripts of the letters beyond ASCII of `units[from]` to `units[to]`, as bits; 0 for a plain value. */
export function findScripts(units: ArrayLike<number>, from: number, to: number): number {
  let [scripts, last] = [0, -1]
  for (let at = from; at < to; at++) {
    const unit = units[at]!
    if (unit < 0x80) continue
    const range = last >= 0 && isWithin(last, unit) ? last : ranges.findIndex((_, index) => isWithin(index, unit))
    last = range
    scripts |= 1 << (range < 0 ? other_script : ranges[range]![2])
  }
  return scripts
}

function isWithin(range: number, unit: number): boolean {
  return unit >= ranges[range]![0] && unit <= ranges[range]![1]
}
