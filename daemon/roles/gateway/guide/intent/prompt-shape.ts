// The shape of a prompt: its length, its form and the kinds of values in it, without any of its words.

/** Upper bounds in characters. */
const lengths = [
  ['short', 80],
  ['medium', 400],
] as const
const max_read = 8_192

/** At most 3 × 2 × 2 × 2 × 2 shapes, such as `short-question` or `long-request-list-code`. */
export function shapeOfPrompt(prompt: string): string {
  const text = prompt.slice(0, max_read)
  const length = lengths.find(([, most]) => prompt.length <= most)?.[0] ?? 'long'
  const traits = [
    /^\s*(?:[-*•]|\d{1,3}[.)])\s/m.test(text) ? 'list' : '',
    /```|[{}]|=>/.test(text) ? 'code' : '',
    /\d/.test(text) ? 'values' : '',
  ]
  return [length, text.includes('?') ? 'question' : 'request', ...traits].filter((trait) => trait !== '').join('-')
}
