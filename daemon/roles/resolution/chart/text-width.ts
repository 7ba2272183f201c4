// Estimates the width of text in a sans-serif font, so that labels neither overlap nor leave the picture.

/** Widths in em of usual sans-serif fonts, by kind of letter; the widest of each kind counts. */
const letterWidths: readonly (readonly [RegExp, number])[] = [
  [/^(?:\p{Mn}|\p{Me}|\u200d|\ufe0f)$/u, 0],
  [/^[ijlI.,:;'|!() -]$/, 0.36],
  [/^[mwMW@%—]$/, 1],
  [
    /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]$|\p{Extended_Pictographic}/u,
    1,
  ],
  [/^\p{Lu}$/u, 0.75],
]
const other_width = 0.6

/** Estimates the width in pixels; fonts differ, so it is rather too large. */
export function measureText(text: string, font_size_px = 12): number {
  let width = 0
  for (const letter of text) width += letterWidths.find(([kind]) => kind.test(letter))?.[1] ?? other_width
  return width * font_size_px
}

/** Returns the text, or its beginning and an ellipsis if it is wider than `max_px`. */
export function truncateToWidth(text: string, max_px: number, font_size_px = 12): string {
  if (measureText(text, font_size_px) <= max_px) return text
  const room = max_px - measureText('…', font_size_px)
  let [kept, width] = ['', 0]
  for (const letter of text) {
    width += measureText(letter, font_size_px)
    if (width > room) break
    kept += letter
  }
  return `${kept}…`
}
