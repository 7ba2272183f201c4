// The parts of a score add up to it, and every rendering shows the same parts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import {
  bitsToProbability,
  buildWaterfall,
  buildWaterfallChart,
  type MatchEvidence,
  renderWaterfallSvg,
  renderWaterfallText,
} from './waterfall.ts'

const matchEvidence: MatchEvidence = {
  scale: 'log_odds',
  base: -6,
  per_bit: 1,
  fields: [
    {
      field: 'surname',
      left: 'smith',
      right: 'smith',
      level: 'equal',
      truncated: false,
      bits: 5,
      frequency_bits: -1.5,
    },
    { field: 'city', left: 'york', right: 'leeds', level: 'different', truncated: false, bits: -2, frequency_bits: 0 },
    { field: 'email', left: undefined, right: 'a@b', level: undefined, truncated: false, bits: 0, frequency_bits: 0 },
    {
      field: 'born',
      left: '19700102',
      right: '19700102',
      level: 'equal',
      truncated: false,
      bits: 9,
      frequency_bits: 2,
    },
  ],
  found_by: ['surname: whole', 'born: whole'],
}

test('totals run from the prior to the score, and the score converts to a probability', () => {
  const { steps, total } = buildWaterfall(matchEvidence)
  expect(steps.map((step) => step.total)).toEqual([-2.5, -4.5, -4.5, 6.5])
  expect(total).toBe(6.5)
  // Odds of 2 ** 6.5.
  expect(bitsToProbability(total)).toBeCloseTo(2 ** 6.5 / (1 + 2 ** 6.5), 12)
  expect(bitsToProbability(0)).toBe(0.5)
})

test('each bar begins where the one before has ended, except the score, which is the total', () => {
  const bits = fc.double({ min: -40, max: 40, noNaN: true })
  const fields = fc.array(
    fc.record({
      field: fc.string(),
      left: fc.option(fc.string(), { nil: undefined }),
      right: fc.string(),
      level: fc.option(fc.string(), { nil: undefined }),
      bits,
      truncated: fc.boolean(),
      frequency_bits: fc.oneof(fc.constant(0), bits),
    }),
  )
  fc.assert(
    fc.property(fields, bits, fc.constantFrom('log_odds', 'likeness'), (evidence, base, scale) => {
      const per_bit = scale === 'likeness' ? 0.02 : 1
      const waterfall = buildWaterfall({ scale, base, per_bit, fields: evidence, found_by: [] })
      const { bars } = buildWaterfallChart(waterfall, '')
      const [prior, ...rest] = bars
      const score = rest.pop()
      let end = prior?.to ?? Number.NaN
      for (const bar of rest) {
        expect(bar.from).toBeCloseTo(end, 9)
        end = bar.to
      }
      expect(score).toMatchObject({ name: 'score', to: waterfall.total })
      expect(score?.from).toBeUndefined()
      expect(end).toBeCloseTo(waterfall.total, 9)
    }),
  )
})

test('text has the chart, the values side by side and the keys', () => {
  const text = renderWaterfallText(buildWaterfall(matchEvidence), 'match_1', 60)
  expect(text).toMatch(/^match_1\nprior .* -6\.00\nsurname .* \+5\.00 equal\n .* -1\.50 common value\n/)
  expect(text).toContain('score')
  expect(text).toContain('email    - | a@b (no evidence)')
  expect(text).toContain('Found by surname: whole, born: whole.')
  expect(renderWaterfallText(buildWaterfall({ ...matchEvidence, found_by: [] }), 'x', 60)).toContain('not recorded')
})

test('a text similarity has no bits and no probability', () => {
  const text = renderWaterfallText(
    buildWaterfall({ ...matchEvidence, scale: 'likeness', base: 0.4, per_bit: 0.01 }),
    'x',
    60,
  )
  expect(text).toMatch(/^x\ntexts .* \+0\.4000\nsurname .* \+0\.0500 equal\n/)
  expect(text).toMatch(/\nscore .* \+0\.5250\n/)
  expect(text).not.toMatch(/%|prior/)
})

test('no line exceeds the width for any values, and no value is left out', () => {
  const bits = fc.integer({ min: -1_000, max: 1_000 })
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  const field = fc.record({
    field: text,
    left: text,
    right: text,
    level: text,
    bits,
    frequency_bits: bits,
    truncated: fc.constant(false),
  })
  fc.assert(
    fc.property(
      fc.array(field, { maxLength: 4 }),
      text,
      fc.array(text),
      fc.integer({ min: 40, max: 200 }),
      (fields, title, found_by, width) => {
        const rendered = renderWaterfallText(buildWaterfall({ ...matchEvidence, fields, found_by }), title, width)
        const removeSpaces = (value: string) => value.replaceAll(/\s/g, '')
        for (const line of rendered.split('\n')) expect(line.length).toBeLessThanOrEqual(width)
        expect(rendered.isWellFormed()).toBe(true)
        for (const { left, right } of fields) {
          const shown = `${escapeLine(left)}|${escapeLine(right)}`
          expect(removeSpaces(rendered)).toContain(removeSpaces(shown))
        }
      },
    ),
  )
})

test('the SVG escapes mark-up in values and names', () => {
  const hostile = {
    field: '<b>',
    left: '<i>',
    right: '"',
    level: '<script>1</script>',
    truncated: false,
    bits: 1,
    frequency_bits: 0,
  }
  const svg = renderWaterfallSvg(buildWaterfall({ ...matchEvidence, fields: [hostile] }), '<title>')
  expect(svg).not.toMatch(/<script|<b>|<i>/)
  expect(svg).toContain('&lt;b&gt;')
})
