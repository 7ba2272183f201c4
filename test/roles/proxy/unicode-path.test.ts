// Every code point of Unicode in a path, by its general category: the rule is a rule of categories, not a list of examples.
import { expect, test } from 'vitest'
import { normaliseTarget } from '../../../daemon/kernel/forward/normal-target.ts'
import { parseRule } from '../../../daemon/roles/proxy/allowlist/rule.ts'

/** General categories whose code points have no place in a path: controls, formats, separators of lines and paragraphs, unassigned. */
const ambiguousCategories = ['Cc', 'Cf', 'Zl', 'Zp', 'Cn']
/** All others. Surrogates (Cs) cannot be encoded in UTF-8, so a path of them is not text. */
const plainCategories = [
  ...['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Mn', 'Mc', 'Me', 'Nd', 'Nl', 'No', 'Zs', 'Co'],
  ...['Pc', 'Pd', 'Ps', 'Pe', 'Pi', 'Pf', 'Po', 'Sm', 'Sc', 'Sk', 'So'],
]
/** Code points of one request: a category is judged in a few thousand paths. */
const escapes_per_path = 64
/** Every code point beyond ASCII but the surrogates, in order. */
const everyCharacter = Array.from({ length: 0x110000 - 0x80 }, (_, at) => at + 0x80)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .join('')

const escapeCharacter = (character: string) =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** The characters of a category, in runs of consecutive ones. */
const listRuns = (category: string) => everyCharacter.match(new RegExp(`\\p{${category}}+`, 'gu')) ?? []

/** The first and the last of each run: where a list of ranges would be off by one. */
const listEdges = (category: string) =>
  listRuns(category).flatMap((run) => [String.fromCodePoint(run.codePointAt(0) ?? 0), run.match(/.$/su)?.[0] ?? ''])

const judgePath = (path: string) => {
  const normal = normaliseTarget(path, 0)
  return 'denied' in normal ? normal.denied : 'normal form'
}

test('the two lists of categories are all of Unicode', () => {
  const categories = [...ambiguousCategories, ...plainCategories].map((each) => `\\p{${each}}`)
  expect(everyCharacter.match(new RegExp(`[^${categories.join('')}]`, 'u'))).toBeNull()
})

test.each(ambiguousCategories)('each run of category %s is denied, wherever in a path it stands', (category) => {
  const characters = listEdges(category).map(escapeCharacter)
  expect(characters.length).toBeGreaterThan(0)
  for (const escaped of characters) {
    for (const path of [`/${escaped}`, `/report/a${escaped}b`, `/caf%C3%A9/x${escaped}/42`]) {
      expect(judgePath(path), path).toBe('control_escape')
      expect(parseRule(`GET ${path}`)).toHaveProperty('message')
    }
  }
})

test.each(plainCategories)('no character of category %s is denied as one that cannot be seen', (category) => {
  const characters = [...listRuns(category).join('')]
  expect(characters.length).toBeGreaterThan(0)
  for (let from = 0; from < characters.length; from += escapes_per_path) {
    const path = `/${characters
      .slice(from, from + escapes_per_path)
      .map(escapeCharacter)
      .join('')}`
    expect(['normal form', 'lookalike'], path).toContain(judgePath(path))
  }
})

test('an escape of a surrogate is not valid UTF-8', () => {
  for (const bytes of ['%ed%a0%80', '%ed%af%bf', '%ed%b0%80', '%ed%bf%bf', '%ed%a0%bd%ed%b8%80']) {
    expect(judgePath(`/${bytes}`)).toBe('bad_utf8')
  }
})

test('a query is forwarded as it stands: it is matched with nothing, and its text may need joiners and marks', () => {
  const query = '?name=%D9%85%DB%8C%E2%80%8C%D8%AE&x=%E2%80%AE%00'
  expect(normaliseTarget(`/report${query}`, 0)).toEqual({ path: '/report', query })
})
